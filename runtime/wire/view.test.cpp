#include "rt/runtime/wire/view.h"

#include <gtest/gtest.h>

#include <array>
#include <numeric>

namespace rt {
namespace {

struct Point {
  float x, y;
  std::array<std::int16_t, 2> tags;
  bool operator==(const Point&) const = default;
};
struct WithPointer {
  const char* text;
};
struct WithBool {
  bool is_set;
};
static_assert(detail::is_flat<double> && detail::is_flat<Point> && detail::is_flat<std::array<Point, 3>>);
static_assert(!detail::is_flat<bool> && !detail::is_flat<WithBool> && !detail::is_flat<WithPointer> &&
              !detail::is_flat<std::string> && !detail::is_flat<std::pair<int, int>>);

// A store on this process's own heap, with room for so many objects.
class HeapStore final : public LargeStore {
 public:
  Result<Large> put(const void* bytes, std::size_t size) override {
    if (room-- <= 0) return Error{Code::Unavailable, "full"};
    return Large(std::make_shared<Object>(std::string(static_cast<const char*>(bytes), size)));
  }
  Result<Large> find(ObjectId) override { return Error{Code::Lost, "gone"}; }
  std::uint64_t used() const override { return 0; }
  int room = 100;

 private:
  struct Object : LargeBytes {
    explicit Object(std::string bytes) : held(std::move(bytes)) { bytes_ = held; }
    const std::string held;
  };
};

std::vector<double> numbers(std::size_t count) {
  std::vector<double> values(count);
  std::iota(values.begin(), values.end(), 0.5);
  return values;
}

// How a value that was sent as `Sent` is read as a `Read`, and how many objects went with it.
template <class Read, class Sent>
std::pair<Read, std::size_t> through(const Sent& value, LargeStore* store) {
  Encoder to(store);
  encode<Sent>(to, value);
  Decoder from(to.bytes(), nullptr, &to.attachments());
  Read read = decode<Read>(from);
  EXPECT_EQ(from.left(), 0u);
  return {std::move(read), to.attachments().size()};
}

TEST(LargeValues, GoBesideTheMessageFrom64KiBOn) {
  HeapStore store;
  const auto small = through<std::vector<double>>(numbers(8191), &store);
  EXPECT_EQ(small.second, 0u);
  EXPECT_EQ(small.first, numbers(8191));
  const auto large = through<std::vector<double>>(numbers(8192), &store);
  EXPECT_EQ(large.second, 1u);
  EXPECT_EQ(large.first, numbers(8192));
  EXPECT_EQ(through<std::string>(std::string(100'000, 'x'), &store).second, 1u);
  EXPECT_EQ(
      (through<std::map<int, std::string>>(std::map<int, std::string>{{1, std::string(70'000, 'a')}}, &store).second),
      1u);
}

TEST(LargeValues, StayInTheMessageWhereThereIsNoStoreOrNoRoom) {
  EXPECT_EQ(through<std::vector<double>>(numbers(10'000), nullptr).first, numbers(10'000));
  HeapStore full;
  full.room = 0;
  const auto sent = through<std::vector<double>>(numbers(10'000), &full);
  EXPECT_EQ(sent.second, 0u);
  EXPECT_EQ(sent.first, numbers(10'000));
}

TEST(LargeValues, OfPlainStructsAreTheSameInAndBesideTheMessage) {
  HeapStore store;
  std::vector<Point> points(20'000);
  for (std::size_t i = 0; i < points.size(); ++i)
    points[i] = {float(i), -float(i), {std::int16_t(i % 100), std::int16_t(-1)}};
  EXPECT_EQ(through<std::vector<Point>>(points, nullptr).first, points);
  const auto beside = through<std::vector<Point>>(points, &store);
  EXPECT_EQ(beside.second, 1u);
  EXPECT_EQ(beside.first, points);
}

TEST(Views, LookAtTheObjectAndKeepIt) {
  HeapStore store;
  const View<double> view = through<View<double>>(numbers(10'000), &store).first;
  ASSERT_TRUE(view.object());
  EXPECT_EQ(reinterpret_cast<const char*>(view.data()), view.object()->bytes().data());
  EXPECT_EQ(std::vector<double>(view.begin(), view.end()), numbers(10'000));
  EXPECT_EQ(through<View<double>>(view, &store).first.object(), view.object()) << "it is passed on as it is";
}

TEST(Views, OfAMessageAreCopiesThatOutliveIt) {
  const View<double> view = through<View<double>>(numbers(3), nullptr).first;
  EXPECT_FALSE(view.object());
  EXPECT_EQ(std::vector<double>(view.begin(), view.end()), numbers(3));
  EXPECT_EQ(through<View<double>>(View<double>(), nullptr).first.size(), 0u);
}

TEST(HostileBytes, ThatNameObjectsWhichDidNotComeAreRefused) {
  HeapStore store;
  Encoder to(&store);
  encode(to, std::string(70'001, 'x'));
  const auto read = [&](std::string bytes, const Attachments* objects, auto type) {
    Decoder from(bytes, nullptr, objects);
    try {
      decode<decltype(type)>(from);
      return Code::Invalid;
    } catch (const Exception& e) {
      return e.code();
    }
  };
  const std::string good(to.bytes());
  EXPECT_EQ(read(good, nullptr, std::string()), Code::Corrupt) << "there is none";
  std::string next = good;
  ++next[0];
  EXPECT_EQ(read(next, &to.attachments(), std::string()), Code::Corrupt) << "there is one";
  EXPECT_EQ(read(good, &to.attachments(), std::vector<double>()), Code::Corrupt) << "70001 bytes are no doubles";
  EXPECT_EQ(read(good, &to.attachments(), View<double>()), Code::Corrupt);
  EXPECT_EQ(read(good, &to.attachments(), std::vector<std::string>()), Code::Corrupt) << "strings have no objects";
  EXPECT_EQ(read(std::string(8, '\xff'), &to.attachments(), std::vector<Point>()), Code::Corrupt);
  std::string many(8, '\0');
  many[7] = 0x7f;
  EXPECT_EQ(read(many, nullptr, View<double>()), Code::Corrupt) << "a count beyond what is there";
}

}  // namespace
}  // namespace rt
