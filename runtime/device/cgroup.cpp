#include "rt/runtime/device/cgroup.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "rt/runtime/base/files.h"

namespace rt {
namespace fs = std::filesystem;
namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

bool lists(const std::string& names, std::string_view name) {
  const auto parts = split(names, ',');
  return std::find(parts.begin(), parts.end(), name) != parts.end();
}

struct Membership {
  int version = 0;
  std::string path;
};

// A line of /proc/self/cgroup is "number:controllers:path"; version 2 names no controllers. A controller that has a
// line of version 1 isn't in version 2.
Membership membership(const std::string& text, std::string_view controller) {
  Membership found;
  for (const std::string& line : split(text, '\n')) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (lists(controllers, controller)) return {1, line.substr(second + 1)};
    if (controllers.empty()) found = {2, line.substr(second + 1)};
  }
  return found;
}

struct Mount {
  std::string root;   // which folder of the hierarchy is mounted
  std::string point;  // where
};

// A line of /proc/self/mountinfo: "id parent device root point options ... - type source super-options".
std::optional<Mount> find_mount(const std::string& text, int version, std::string_view controller) {
  for (const std::string& line : split(text, '\n')) {
    const auto dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    const auto before = split(line.substr(0, dash), ' ');
    const auto after = split(line.substr(dash + 3), ' ');
    if (before.size() < 5 || after.size() < 3) continue;
    const bool is_ours = version == 2 ? after[0] == "cgroup2" : after[0] == "cgroup" && lists(after[2], controller);
    if (is_ours) return Mount{before[3], before[4]};
  }
  return std::nullopt;
}

// `path` as seen from the mount's root: "" or "/a/b". None where it lies outside of it, as in a cgroup namespace with
// the mount of the old one ("/../..").
std::optional<std::string> below(const std::string& path, const std::string& mount_root) {
  if (path.find("/..") != std::string::npos || mount_root.find("/..") != std::string::npos) return std::nullopt;
  const std::string root = mount_root == "/" ? "" : mount_root;
  if (!path.starts_with(root)) return std::nullopt;
  const std::string rest = path.substr(root.size());
  if (!rest.empty() && rest[0] != '/') return std::nullopt;
  return rest == "/" ? "" : rest;
}

}  // namespace

Result<Cgroup> find_cgroup(const fs::path& root, std::string_view controller) {
  RT_TRY(groups, read_file(root / "proc/self/cgroup"));
  RT_TRY(mounts, read_file(root / "proc/self/mountinfo"));
  const Membership own = membership(groups, controller);
  if (own.version == 0) return Cgroup{};
  const auto mount = find_mount(mounts, own.version, controller);
  const auto inside = mount ? below(own.path, mount->root) : std::nullopt;
  if (!inside) {
    return Cgroup{own.version,
                  {},
                  fmt::format("{} limit unknown: the control group '{}' is not below a mounted one{}", controller,
                              own.path, mount ? " (" + mount->root + ")" : "")};
  }
  Cgroup cgroup{own.version, {}, std::nullopt};
  const fs::path top = root / fs::path(mount->point).relative_path();
  fs::path level = top;
  level += *inside;
  for (; level != top; level = level.parent_path()) cgroup.levels.push_back(level);
  cgroup.levels.push_back(top);
  return cgroup;
}

std::vector<std::string> read_words(const fs::path& path) {
  std::vector<std::string> words;
  const auto text = read_file(path);
  std::istringstream stream(text ? *text : std::string());
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

}  // namespace rt
