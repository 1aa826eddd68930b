#pragma once
// Trials that do nothing, and trials that take a second: what rtctl bench tune runs. In rtctl, and in rt-torch too, so
// that the price of a program that links LibTorch shows.

#include <chrono>
#include <filesystem>
#include <thread>

#include "rt/actors/trainable.h"

class BenchNoop {
 public:
  void setup(rt::RankContext&) {}
  rt::Metrics step() { return {{"loss", 0.0}}; }
  void save(const std::filesystem::path&) {}
  void load(const std::filesystem::path&) {}
};

class BenchSleep : public BenchNoop {
 public:
  rt::Metrics step() {
    std::this_thread::sleep_for(std::chrono::seconds(1));
    return {{"loss", 0.0}};
  }
};

RT_TRAINABLE(BenchNoop)
RT_TRAINABLE(BenchSleep)
