#include "rt/actors/method_table.h"

#include <gtest/gtest.h>

namespace rt::method_table_test {

class Counter {
 public:
  Counter(int start, std::string name) : n_(start), name_(std::move(name)) {}
  int add(int by) { return n_ += by; }
  std::string name() const { return name_; }
  void reset() noexcept { n_ = 0; }
  void fail() { throw std::runtime_error("it can't"); }

 private:
  int n_;
  std::string name_;
};
struct Base {
  int base = 1;
  int of_base() const { return base; }
};
struct SecondBase {
  int second = 2;
  virtual int of_second() { return second; }
  virtual ~SecondBase() = default;
};
struct Derived : Base, SecondBase {
  int of_second() override { return 20 + second; }
  std::string of(int) { return "int"; }
  std::string of(double) { return "double"; }
  std::string of(double) const { return "const double"; }
  template <class T>
  std::string of_type() {
    return typeid(T).name();
  }
  static int of_object(const Derived& self, int add) { return self.base + add; }
};
int base_times(Derived& self, int by) noexcept { return self.base * by; }
struct Other {
  template <class T>
  struct Nested {};
};

using namespace rt::detail;

template <auto M, class T, class... Args>
std::string call_of(const AnyObject& object, Args... args) {
  const MethodEntry entry = find_method(Method<M, T>::name.hash);
  EXPECT_EQ(entry.of, class_hash<T>());
  EXPECT_NE(entry.invoke, nullptr);
  EXPECT_FALSE(entry.is_urgent);
  Encoder to, result;
  encode(to, std::tuple<Args...>(args...));
  Decoder from(to.bytes());
  entry.invoke(object.get(), from, result);
  return result.take();
}

template <auto M, class... Args>
std::string call(const AnyObject& object, Args... args) {
  return call_of<M, typename MethodTraits<decltype(M)>::Class>(object, args...);
}

AnyObject make_counter() {
  using Made = Constructor<Counter, int, std::string>;
  (void)Made::registered;
  Encoder to;
  encode(to, std::tuple<int, std::string>(10, "counter"));
  Decoder from(to.bytes());
  return find_class(Made::name).construct(from);
}

TEST(MethodTable, ConstructsAndCallsByName) {
  const AnyObject counter = make_counter();
  EXPECT_EQ(decode<int>(*std::make_unique<Decoder>(call<&Counter::add>(counter, 5))), 15);
  EXPECT_EQ(decode<std::string>(*std::make_unique<Decoder>(call<&Counter::name>(counter))), "counter");
  EXPECT_EQ(call<&Counter::reset>(counter), "");
  EXPECT_THROW(call<&Counter::fail>(counter), std::runtime_error);
}

// What the compiler tells apart, though g++ spells some of them alike.
TEST(MethodTable, TellsOverloadsTemplatesAndBasesApart) {
  const AnyObject object = std::make_shared<Derived>();
  const auto text = [](const std::string& result) {
    Decoder from(result);
    return decode<std::string>(from);
  };
  const auto number = [](const std::string& result) {
    Decoder from(result);
    return decode<int>(from);
  };
  EXPECT_EQ(text((call<overload<std::string(int)>(&Derived::of)>(object, 1))), "int");
  EXPECT_EQ(text((call<overload<std::string(double)>(&Derived::of)>(object, 1.0))), "double");
  EXPECT_EQ(text((call<overload<std::string(double) const>(&Derived::of)>(object, 1.0))), "const double");
  EXPECT_EQ(text(call<&Derived::of_type<int>>(object)), "i");
  EXPECT_EQ(text(call<&Derived::of_type<double>>(object)), "d");
  EXPECT_EQ(number(call<&Derived::of_object>(object, 4)), 5);
  EXPECT_EQ(number(call<&base_times>(object, 7)), 7);
  EXPECT_EQ(number((call_of<&Base::of_base, Derived>(object))), 1);
  EXPECT_EQ(number((call_of<&SecondBase::of_second, Derived>(object))), 22);
}

TEST(MethodTable, HasNothingForNamesThatNobodyRegistered) {
  EXPECT_EQ(find_class("no such class").construct, nullptr);
  EXPECT_EQ(find_method(wire::method_hash("no such method")).invoke, nullptr);
}

TEST(MethodTable, KeepsTheFirstOfAName) {
  const Invoke first = [](void*, Decoder&, Encoder&) {};
  const Invoke second = [](void*, Decoder&, Encoder& to) { encode(to, 1); };
  EXPECT_TRUE(register_method({"twice", /*urgent=*/true}, {.invoke = first}));
  EXPECT_FALSE(register_method("twice", {.invoke = second}));
  EXPECT_EQ(find_method(wire::method_hash("twice")).invoke, first);
  EXPECT_TRUE(find_method(wire::method_hash("twice")).is_urgent);
}

TEST(MethodTable, RefusesArgumentsOfAnotherShape) {
  const AnyObject counter = make_counter();
  EXPECT_THROW(call<&Counter::add>(counter), Exception);
  EXPECT_THROW(call<&Counter::add>(counter, 5, 6), Exception);
}

TEST(TypeName, IsWholeAndTellsOverloadsApart) {
  EXPECT_EQ(type_name<int>(), "int");
  EXPECT_EQ(type_name<int[3]>(), "int [3]");
  EXPECT_NE((Constructor<Counter, int, std::string>::name), (Constructor<Other>::name));
  EXPECT_NE(type_name<Other::Nested<int[3]>>(), type_name<Other::Nested<int[4]>>());
  EXPECT_NE(Method<&Counter::add>::text, Method<&Counter::name>::text);
  EXPECT_TRUE(is_anonymous("{anonymous}::Counter"));
}

// The offset basis of FNV-1a with 64 bits, and its test vectors for "a" and "foobar" (draft-eastlake-fnv, C.2).
TEST(MethodHash, IsFnv1a) {
  EXPECT_EQ(wire::method_hash(""), 0xcbf29ce484222325u);
  EXPECT_EQ(wire::method_hash("a"), 0xaf63dc4c8601ec8cu);
  EXPECT_EQ(wire::method_hash("foobar"), 0x85944171f73967e8u);
}

}  // namespace rt::method_table_test
