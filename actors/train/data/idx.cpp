#include "rt/actors/train/data/idx.h"

#include <array>
#include <string>
#include <string_view>

#include "rt/actors/train/data/gzip.h"

namespace rt::train {
namespace {

constexpr int kUnsignedByte = 0x08;
constexpr int kClasses = 10;

struct Idx {
  std::array<std::int64_t, 3> dimensions{1, 1, 1};  // those that the file doesn't have are 1
  std::string values;
};

Error damaged(const std::filesystem::path& file, const std::string& what) {
  return {Code::Corrupt, file.string() + ": " + what + "; fetch the file again"};
}

std::int64_t big_endian(std::string_view bytes) {
  std::int64_t value = 0;
  for (const char byte : bytes.substr(0, 4)) value = value << 8 | static_cast<unsigned char>(byte);
  return value;
}

Status check_magic(const std::filesystem::path& file, std::string_view header, int wanted) {
  if (header.size() < 4) return damaged(file, "has " + std::to_string(header.size()) + " bytes, wanted an IDX header");
  const int type = static_cast<unsigned char>(header[2]);
  const int dimensions = static_cast<unsigned char>(header[3]);
  if (header[0] != 0 || header[1] != 0) return damaged(file, "is no IDX file: it doesn't begin with two zero bytes");
  if (type != kUnsignedByte)
    return damaged(file, "holds values of type " + std::to_string(type) + ", wanted 8 (unsigned bytes)");
  if (dimensions != wanted)
    return damaged(file, "has " + std::to_string(dimensions) + " dimensions, wanted " + std::to_string(wanted) +
                             (wanted == 3 ? " (images)" : " (labels)"));
  return Unit{};
}

Result<Idx> read_one(const std::filesystem::path& path, int wanted_dimensions) {
  RT_TRY(file, GzipFile::open(path));
  const auto header_size = static_cast<std::size_t>(4 + 4 * wanted_dimensions);
  RT_TRY(header, file.read(header_size));
  RT_CHECK(check_magic(path, header, wanted_dimensions));
  if (header.size() < header_size) return damaged(path, "ends inside its header");

  Idx idx;
  std::int64_t total = 1;  // each factor is below 2^32 and total at most 2^30 before, so it can't overflow
  for (int i = 0; i < wanted_dimensions; ++i) {
    const std::int64_t dimension = big_endian(std::string_view(header).substr(static_cast<std::size_t>(4 + 4 * i)));
    if (dimension == 0) return damaged(path, "dimension " + std::to_string(i + 1) + " is 0");
    idx.dimensions[static_cast<std::size_t>(i)] = dimension;
    total *= dimension;
    if (total > kMaxIdxBytes)
      return damaged(path, "claims over " + std::to_string(kMaxIdxBytes) + " values, more than rt reads");
  }
  RT_TRY(values, file.read(static_cast<std::size_t>(total) + 1));  // one more shows that the file goes on
  if (values.size() != static_cast<std::size_t>(total))
    return damaged(path,
                   "claims " + std::to_string(total) + " values and holds " +
                       (values.size() > static_cast<std::size_t>(total) ? "more" : std::to_string(values.size())));
  idx.values = std::move(values);
  return idx;
}

// The one spelling of `name` that is in `folder`.
Result<std::filesystem::path> find_file(const std::filesystem::path& folder, const std::string& name) {
  const auto dash = name.find("-idx");
  const std::string dotted = name.substr(0, dash) + "." + name.substr(dash + 1);
  for (const std::string& spelling : {name, name + ".gz", dotted, dotted + ".gz"}) {
    std::error_code ignored;
    if (std::filesystem::exists(folder / spelling, ignored)) return folder / spelling;
  }
  return Error{Code::NotFound, "no " + name + " in " + folder.string() + " (nor " + dotted +
                                   ", nor either with .gz): put MNIST's four files there"};
}

Result<Dataset> read_pair(const std::filesystem::path& folder, const std::string& set) {
  RT_TRY(images, find_file(folder, set + "-images-idx3-ubyte"));
  RT_TRY(labels, find_file(folder, set + "-labels-idx1-ubyte"));
  return read_idx(images, labels);
}

}  // namespace

Result<Dataset> read_idx(const std::filesystem::path& images, const std::filesystem::path& labels) {
  RT_TRY(pixels, read_one(images, 3));
  RT_TRY(classes, read_one(labels, 1));
  const auto [rows, height, width] = pixels.dimensions;
  if (classes.dimensions[0] != rows)
    return damaged(labels, "has " + std::to_string(classes.dimensions[0]) + " labels, but " + images.string() +
                               " has " + std::to_string(rows) + " images");

  Dataset data{.rows = rows, .columns = height * width, .classes = kClasses};
  data.labels.reserve(classes.values.size());
  for (const char label : classes.values) {
    const int value = static_cast<unsigned char>(label);
    if (value >= kClasses)
      return damaged(
          labels, "label " + std::to_string(data.labels.size() + 1) + " is " + std::to_string(value) + ", wanted 0..9");
    data.labels.push_back(value);
  }
  data.features.reserve(pixels.values.size());
  for (const char pixel : pixels.values)
    data.features.push_back(static_cast<float>(static_cast<unsigned char>(pixel)) / 255.0F);
  return data;
}

Result<TrainAndTest> read_mnist(const std::filesystem::path& folder) {
  RT_TRY(train, read_pair(folder, "train"));
  RT_TRY(test, read_pair(folder, "t10k"));
  if (train.columns != test.columns)
    return Error{Code::Corrupt, folder.string() + ": the training images have " + std::to_string(train.columns) +
                                    " pixels, the test images " + std::to_string(test.columns) +
                                    "; the four files are not of one set"};
  return TrainAndTest{std::move(train), std::move(test)};
}

}  // namespace rt::train
