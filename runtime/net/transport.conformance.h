#pragma once
// What every Transport must do, as tests (transport.conformance.test.cpp). A transport's own test file defines how a
// connected pair comes to be:
//   INSTANTIATE_TEST_SUITE_P(UnixSocket, TransportConformance, testing::Values(&unix_pair));
// No test waits for time: the event loop runs until what was asked for has happened.

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <memory>
#include <string>
#include <vector>

#include "rt/runtime/net/transport.h"

namespace rt::conformance {

using TransportPair = std::pair<std::shared_ptr<Transport>, std::shared_ptr<Transport>>;
using MakePair = TransportPair (*)(boost::asio::io_context& io, TransportLimits limits);

// One end, with what it heard.
struct Listening {
  struct Heard {
    FrameType type;
    std::uint64_t route;
    std::string body;
    bool operator==(const Heard&) const = default;
  };

  explicit Listening(std::shared_ptr<Transport> end) : transport(std::move(end)) {
    transport->start({.on_frame =
                          [this](const Frame& frame) {
                            EXPECT_EQ(reinterpret_cast<std::uintptr_t>(frame.body.data()) % 8, 0);
                            heard.push_back({frame.type, frame.route, std::string(frame.body)});
                            if (during_frame) during_frame();
                          },
                      .on_close = [this](const Error& error) { closed.push_back(error); }});
  }

  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;
  ~Listening() { transport->close(); }

  std::shared_ptr<Transport> transport;
  std::vector<Heard> heard;
  std::vector<Error> closed;
  std::function<void()> during_frame;
};

class TransportConformance : public testing::TestWithParam<MakePair> {
 protected:
  void connect(TransportLimits limits = {}) {
    auto [a, b] = GetParam()(io, limits);
    left = std::make_unique<Listening>(std::move(a));
    right = std::make_unique<Listening>(std::move(b));
  }
  template <class Done>
  void run_until(Done&& done) {
    while (!done() && io.run_one() > 0) {
    }
    ASSERT_TRUE(done());
  }

  boost::asio::io_context io{1};
  std::unique_ptr<Listening> left, right;
};

// A body that shows where a piece of it is missing or in the wrong place.
inline std::string body_of(std::size_t size) {
  std::string body(size, '\0');
  for (std::size_t i = 0; i < size; ++i) body[i] = static_cast<char>((i * 2654435761u) >> 16);
  return body;
}

}  // namespace rt::conformance
