#include "rt/rtctl/paths.h"

#include <algorithm>
#include <cctype>

namespace rt {

namespace fs = std::filesystem;

Result<fs::path> absolute_path(const fs::path& path) {
  std::error_code error;
  fs::path absolute = fs::absolute(path, error);
  if (!error) return absolute;
  return system_error("cannot tell where " + path.string() +
                          " is, as the working folder can't be told (cd into one that is there, or give whole paths)",
                      error.value());
}

Result<bool> has_sweep(const fs::path& directory) {
  std::error_code error;
  const fs::file_status status = fs::status(directory / "tune", error);
  if (status.type() == fs::file_type::not_found) return false;
  if (error) return system_error("cannot look into the folder " + directory.string(), error.value());
  return status.type() == fs::file_type::directory;
}

Status require_sweep(const fs::path& directory) {
  RT_TRY(is_there, has_sweep(directory));
  if (is_there) return Unit{};
  return Error{Code::NotFound, "there is no sweep in " + directory.string() + " (no folder tune in it)"};
}

std::string quoted(const fs::path& path) {
  const std::string text = path.string();
  const auto is_plain = [](unsigned char c) {
    return std::isalnum(c) || std::string_view("/._-+,:=@%").find(static_cast<char>(c)) != std::string_view::npos;
  };
  if (!text.empty() && std::all_of(text.begin(), text.end(), is_plain)) return text;
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

}  // namespace rt
