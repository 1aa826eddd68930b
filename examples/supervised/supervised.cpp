// A supervised tree: a desk, and below it a reader and a parser that it supervises. A line crashes the parser. It is
// restarted alone, because the reader was spawned before it (rest-for-one), and the desk goes on with the next line.

#include <rt/rt.h>

#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

class Reader {
 public:
  explicit Reader(std::vector<std::string> lines) : lines_(std::move(lines)) {}
  std::optional<std::string> next() {
    if (at_ == lines_.size()) return std::nullopt;
    return lines_[at_++];
  }
  std::uint32_t incarnation() { return rt::self().incarnation(); }

 private:
  std::vector<std::string> lines_;
  std::size_t at_ = 0;
};

class Parser {
 public:
  int parse(std::string line) {
    if (line == "crash") std::abort();
    return std::stoi(line);
  }
  std::uint32_t incarnation() { return rt::self().incarnation(); }
};

struct Report {
  int sum = 0;
  std::vector<std::string> lost;  // lines, each with what became of it
  std::string death;
  std::uint32_t reader = 0, parser = 0;  // incarnations
};

class Desk {
 public:
  explicit Desk(std::vector<std::string> lines)
      : family_(rt::self().supervise({.strategy = rt::Strategy::RestForOne, .max_restarts = 3})),
        reader_(family_.spawn<Reader>({}, std::move(lines))),
        parser_(family_.spawn<Parser>({})) {}

  Report work() {
    Report report;
    rt::Watch watch = rt::watch(parser_);
    while (const auto line = reader_.call<&Reader::next>().get()) {
      const rt::Result<int> parsed = parser_.call<&Parser::parse>(*line).result();
      if (parsed)
        report.sum += *parsed;
      else if (parsed.error().code == rt::Code::MaybeRan)
        report.lost.push_back("'" + *line + "': the parser died under it");
      else
        report.lost.push_back("'" + *line + "': it threw");
    }
    report.death = watch.next().get().cause;
    report.reader = reader_.call<&Reader::incarnation>().get();
    report.parser = parser_.call<&Parser::incarnation>().get();
    return report;
  }

 private:
  rt::Supervisor family_;
  rt::Actor<Reader> reader_;
  rt::Actor<Parser> parser_;
};

int main(int argc, char** argv) {
  rt::Cluster cluster = rt::connect(argc, argv);
  const std::vector<std::string> lines{"1", "2", "crash", "three", "4"};
  const Report report = cluster.spawn<Desk>({.name = "desk"}, lines).call<&Desk::work>().get();
  std::cout << "sum " << report.sum << "\n";
  for (const std::string& line : report.lost) std::cout << "lost " << line << "\n";
  std::cout << "the parser died of " << report.death << " and runs for the " << report.parser
            << "nd time; the reader runs for the " << report.reader << "st\n";
}
