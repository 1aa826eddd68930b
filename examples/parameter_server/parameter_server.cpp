// A parameter server: one actor holds the weights of a line y = w x + b, workers fetch them, compute the gradient on
// their own share of the points and push it back, each at its own pace. The points lie on y = 3 x + 1.
//   parameter_server [WORKERS]

#include <rt/rt.h>

#include <cstdlib>
#include <iostream>
#include <vector>

struct Line {
  double w = 0, b = 0;
};

class ParameterServer {
 public:
  explicit ParameterServer(double rate) : rate_(rate) {}
  Line line() const { return line_; }
  void push(Line gradient) {
    line_.w -= rate_ * gradient.w;
    line_.b -= rate_ * gradient.b;
  }

 private:
  Line line_;
  double rate_;
};

class Worker {
 public:
  Worker(rt::Actor<ParameterServer> server, int share, int shares) : server_(server) {
    for (int i = share; i < 100; i += shares) points_.push_back(i / 100.0);
  }

  // A coroutine: while it waits for the server, the worker's process would answer other calls.
  rt::Task<void> train(int rounds) {
    for (int i = 0; i < rounds; ++i) {
      const Line line = co_await server_.call<&ParameterServer::line>();
      co_await server_.call<&ParameterServer::push>(gradient(line));
    }
  }

 private:
  // Of the mean squared error over this worker's points.
  Line gradient(Line line) const {
    Line sum;
    for (const double x : points_) {
      const double error = line.w * x + line.b - (3 * x + 1);
      sum.w += 2 * error * x / static_cast<double>(points_.size());
      sum.b += 2 * error / static_cast<double>(points_.size());
    }
    return sum;
  }

  rt::Actor<ParameterServer> server_;
  std::vector<double> points_;
};

int main(int argc, char** argv) {
  rt::Cluster cluster = rt::connect(argc, argv);
  const int workers = argc > 1 ? std::atoi(argv[1]) : 3;
  if (workers < 1 || workers > 100) {
    std::cerr << "parameter_server: '" << argv[1] << "' is no number of workers from 1 to 100\n";
    return 2;
  }

  auto server = cluster.spawn<ParameterServer>({.name = "weights"}, 0.1);
  std::vector<rt::Future<rt::Unit>> training;
  for (int i = 0; i < workers; ++i)
    training.push_back(cluster.spawn<Worker>({}, server, i, workers).call<&Worker::train>(3000 / workers));
  for (const auto& worker : training) worker.get();

  const Line line = server.call<&ParameterServer::line>().get();
  std::cout.precision(2);
  std::cout << std::fixed << "y = " << line.w << " x + " << line.b << "\n";
}
