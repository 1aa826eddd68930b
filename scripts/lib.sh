# shellcheck shell=bash disable=SC2034
# What the scripts share: phases with their seconds, logged commands, Debian's packages, how many jobs fit this machine.
# Sourced from a script in scripts/; leaves the shell in the repository's root with `set -euo pipefail`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/versions
. scripts/versions

RT_LOGS=build/logs
RT_VENV=build/venv
RT_STARTED=$SECONDS
RT_PHASE_STARTED=

say() { printf '   %s\n' "$*"; }

# fail MESSAGE...: one line each, to standard error; ends the script.
fail() {
  printf '\n%s: ' "scripts/$(basename "$0")" >&2
  printf '%s\n' "$@" >&2
  exit 1
}

phase() {
  phase_end
  printf '== %s\n' "$1"
  RT_PHASE_STARTED=$SECONDS
}

phase_end() {
  [ -z "$RT_PHASE_STARTED" ] || printf '   %d s\n' $((SECONDS - RT_PHASE_STARTED))
  RT_PHASE_STARTED=
}

# logged NAME COMMAND...: quiet while all is well; where it fails, its last lines, and where the rest is.
logged() {
  local log=$RT_LOGS/$1.log
  shift
  mkdir -p "$RT_LOGS"
  "$@" >"$log" 2>&1 </dev/null && return 0
  printf '   failed: %s\n' "$*" >&2
  tail -n 12 "$log" | sed 's/^/   | /' >&2
  printf '   all of it: %s\n' "$log" >&2
  return 1
}

# needs_space MB WHAT: ends the script where the build folder's disk has less.
needs_space() {
  mkdir -p build
  local free_mb
  free_mb=$(df -Pm build | awk 'NR == 2 { print $4 }')
  [ "$free_mb" -ge "$1" ] || fail "$2 needs $1 MB of disk space, $(pwd)/build has $free_mb MB free." \
    "Free some, or make build a link to a folder on a larger disk, and run this again."
}

missing_of() { # those of the named packages that aren't installed
  local package
  for package in "$@"; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || printf '%s ' "$package"
  done
}

install_packages() { # as root
  export DEBIAN_FRONTEND=noninteractive
  logged dpkg dpkg --configure -a &&  # ends what an interrupted run left half installed
    logged apt-update apt-get -o DPkg::Lock::Timeout=60 update &&
    logged apt-install apt-get -o DPkg::Lock::Timeout=60 install -y --no-install-recommends "$@"
}

# Compiling a source that includes LibTorch takes up to 2 GB: two jobs at least, no more than cores or memory allow.
build_jobs() {
  local cores memory_gb jobs
  cores=$(nproc)
  memory_gb=$(awk '/^MemAvailable:/ { print int($2 / 1024 / 1024) }' /proc/meminfo)
  jobs=$((memory_gb / 2 < cores ? memory_gb / 2 : cores))
  echo $((jobs < 2 ? 2 : jobs))
}

# configure PRESET [CMAKE ARGUMENT...]
configure() {
  local preset=$1
  shift
  logged "configure-$preset" cmake --preset "$preset" "$@" ||
    fail "CMake could not configure the preset $preset; its message above says what is missing."
  grep -hE '^-- (LibTorch|NCCL)' "$RT_LOGS/configure-$preset.log" | sed 's/^-- /   /' || true
}

# build PRESET [TARGET...]: everything where no target is named.
build() {
  local preset=$1 jobs
  shift
  jobs=$(build_jobs)
  say "$jobs jobs"
  cmake --build "build/$preset" -j "$jobs" ${1:+--target "$@"} || fail "The build of preset $preset failed; the first error above says where."
}
