#include "rt/runtime/base/journal_format.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cstring>

#include "rt/runtime/base/checksum.h"

namespace rt::journal {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::string_view kMagic[] = {"rt-journ", "rt-snaps"};  // by Kind
constexpr std::string_view kSuffix[] = {".rtj", ".rts"};

template <class Number>
void put(std::string& out, Number number) {
  out.append(reinterpret_cast<const char*>(&number), sizeof number);
}

template <class Number>
Number take(std::string_view bytes, std::size_t at) {
  Number number;
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

std::optional<std::uint32_t> parse_number(std::string_view text) {
  std::uint32_t number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.size() < 6 || code != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

struct Batch {
  enum class State { Whole, Incomplete, BadSize, BadBody };
  State state = State::Incomplete;
  std::string_view body;
  std::size_t size() const { return kBatchHeaderSize + body.size(); }
};

Batch read_batch(std::string_view bytes) {
  if (bytes.size() < kBatchHeaderSize) return {};
  const auto size = take<std::uint32_t>(bytes, 0);
  if (crc32c(bytes.substr(0, 4)) != take<std::uint32_t>(bytes, 4) || size > kMaxBody) {
    return {Batch::State::BadSize, {}};
  }
  if (bytes.size() - kBatchHeaderSize < size) return {};
  const auto body = bytes.substr(kBatchHeaderSize, size);
  const bool checks = crc32c(body) == take<std::uint32_t>(bytes, 8);
  return {checks ? Batch::State::Whole : Batch::State::BadBody, body};
}

// False where the sizes don't add up, which a right checksum leaves only to a faulty writer.
bool take_records(std::string_view body, std::vector<std::string>& records) {
  while (!body.empty()) {
    if (body.size() < 4) return false;
    const auto size = take<std::uint32_t>(body, 0);
    if (body.size() - 4 < size) return false;
    records.emplace_back(body.substr(4, size));
    body.remove_prefix(4 + size);
  }
  return true;
}

bool holds_a_whole_batch(std::string_view bytes) {
  for (; bytes.size() >= kBatchHeaderSize; bytes.remove_prefix(1)) {
    if (read_batch(bytes).state == Batch::State::Whole) return true;
  }
  return false;
}

// What a batch that isn't whole says about the end of its segment. A page that the machine's crash left unwritten
// reads as zeros, whatever was written after it.
Tail judge(const Batch& batch, std::string_view bytes) {
  if (batch.state == Batch::State::Incomplete) return Tail::Torn;
  if (bytes.substr(0, kBatchHeaderSize) == std::string(kBatchHeaderSize, '\0')) return Tail::Torn;
  const std::size_t skip = batch.state == Batch::State::BadBody ? batch.size() : 1;
  return holds_a_whole_batch(bytes.substr(skip)) ? Tail::Damaged : Tail::Torn;
}

}  // namespace

std::string to_string(const FileName& name) {
  return fmt::format("{:06}-{:06}{}", name.term, name.segment, kSuffix[static_cast<int>(name.kind)]);
}

std::optional<FileName> parse_file_name(std::string_view text) {
  for (const Kind kind : {Kind::Segment, Kind::Snapshot}) {
    const auto suffix = kSuffix[static_cast<int>(kind)];
    const auto dash = text.find('-');
    if (!text.ends_with(suffix) || dash == std::string_view::npos) continue;
    const auto term = parse_number(text.substr(0, dash));
    const auto segment = parse_number(text.substr(dash + 1, text.size() - suffix.size() - dash - 1));
    if (term && segment) return FileName{kind, *term, *segment};
  }
  return std::nullopt;
}

std::string encode_header(const FileName& name) {
  std::string header(kMagic[static_cast<int>(name.kind)]);
  put(header, kFormat);
  put(header, name.term);
  put(header, name.segment);
  put(header, crc32c(header));
  return header;
}

Status check_header(std::string_view header, const FileName& name, const std::filesystem::path& path) {
  const bool is_ours = header.size() == kHeaderSize && header.starts_with(kMagic[static_cast<int>(name.kind)]);
  if (is_ours && take<std::uint32_t>(header, 8) != kFormat) {
    return Error{Code::Refused,
                 fmt::format("{} has journal format {}, this rt reads format {}: use the rt that wrote it",
                             path.string(), take<std::uint32_t>(header, 8), kFormat)};
  }
  if (header != encode_header(name)) {
    return Error{Code::Corrupt, fmt::format("{}: the header at offset 0 is damaged, or the file was renamed: put the "
                                            "file back from a copy, or leave this journal",
                                            path.string())};
  }
  return Unit{};
}

Result<std::string> encode_batch(std::span<const std::string_view> records) {
  std::size_t size = 0;
  for (const auto record : records) size += 4 + record.size();
  if (size > kMaxBody) {
    return Error{Code::Invalid, fmt::format("{} records of {} bytes in all are more than the {} that one append to a "
                                            "journal may hold: append them in parts",
                                            records.size(), size, kMaxBody)};
  }
  std::string batch;
  batch.reserve(kBatchHeaderSize + size);
  put(batch, static_cast<std::uint32_t>(size));
  put(batch, crc32c(batch));
  put(batch, std::uint32_t{0});
  for (const auto record : records) {
    put(batch, static_cast<std::uint32_t>(record.size()));
    batch += record;
  }
  const std::uint32_t crc = crc32c(std::string_view(batch).substr(kBatchHeaderSize));
  std::memcpy(batch.data() + 8, &crc, sizeof crc);
  return batch;
}

std::string encode_term_start(const Position& end) {
  std::string record;
  put(record, end.term);
  put(record, end.segment);
  put(record, end.offset);
  return record;
}

std::optional<Position> decode_term_start(std::string_view record) {
  if (record.size() != 16) return std::nullopt;
  return Position{take<std::uint32_t>(record, 0), take<std::uint32_t>(record, 4), take<std::uint64_t>(record, 8)};
}

Scan scan_batches(std::string_view bytes) {
  Scan scan;
  while (scan.whole < bytes.size()) {
    const auto rest = bytes.substr(scan.whole);
    const Batch batch = read_batch(rest);
    if (batch.state != Batch::State::Whole) {
      scan.tail = judge(batch, rest);
      break;
    }
    if (!take_records(batch.body, scan.records)) {
      scan.tail = Tail::Damaged;
      break;
    }
    scan.whole += batch.size();
  }
  return scan;
}

}  // namespace rt::journal
