#include "rt/runtime/base/log_tail.h"

#include <algorithm>
#include <fstream>

namespace rt {

std::string last_lines(const std::filesystem::path& log, std::size_t lines, std::size_t bytes) {
  std::ifstream in(log, std::ios::binary | std::ios::ate);
  if (!in) return "(cannot be read)\n";
  const auto size = static_cast<std::size_t>(in.tellg());
  if (size == 0) return "(it is empty)\n";
  std::string text(std::min(size, bytes), '\0');
  in.seekg(-static_cast<std::streamoff>(text.size()), std::ios::end);
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (!text.ends_with('\n')) text += '\n';

  std::size_t begin = text.size() - 1;
  for (std::size_t n = 0; n < lines && begin != std::string::npos; ++n)
    begin = begin ? text.rfind('\n', begin - 1) : std::string::npos;
  const bool is_cut = begin == std::string::npos && size > text.size();
  if (is_cut) begin = text.find('\n');  // the first line there is a part of one
  return begin == std::string::npos || begin + 1 == text.size() ? text : text.substr(begin + 1);
}

}  // namespace rt
