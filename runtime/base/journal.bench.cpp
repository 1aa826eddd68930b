// The journal's appends against the raw limit, write(2) of as many bytes to a file opened for appending.
// Run by hand: rt_journal_bench. 200-byte records; `records` is their rate.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <unistd.h>

#include "rt/runtime/base/journal.h"
#include "rt/runtime/base/temporary_folder.h"

namespace {

const std::string kRecord(200, 'x');

void count_records(benchmark::State& state) {
  state.counters["records"] =
      benchmark::Counter(static_cast<double>(state.iterations() * state.range(0)), benchmark::Counter::kIsRate);
}

void raw_write(benchmark::State& state) {
  const rt::TemporaryFolder folder;
  const auto path = folder.path() / "raw";
  const rt::Fd fd = rt::open_file(path, O_WRONLY | O_APPEND | O_CREAT).get();
  const std::string bytes(kRecord.size() * static_cast<std::size_t>(state.range(0)), 'x');
  for (auto _ : state) rt::write_all(fd.get(), bytes, path).get();
  count_records(state);
}
BENCHMARK(raw_write)->Arg(1)->Arg(100)->UseRealTime();

void append(benchmark::State& state) {
  const rt::TemporaryFolder folder;
  const auto opened = rt::open_journal(folder.path()).get();
  const std::vector<std::string_view> records(static_cast<std::size_t>(state.range(0)), kRecord);
  for (auto _ : state) opened.journal->append_all(records).get();
  count_records(state);
}
BENCHMARK(append)->Arg(1)->Arg(100)->UseRealTime();

void append_and_sync(benchmark::State& state) {
  const rt::TemporaryFolder folder;
  const auto opened = rt::open_journal(folder.path()).get();
  for (auto _ : state) {
    opened.journal->append(kRecord).get();
    opened.journal->sync().get();
  }
  count_records(state);
}
BENCHMARK(append_and_sync)->Arg(1)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
