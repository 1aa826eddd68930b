#include "rt/actors/inline/fibers.h"

#include <algorithm>

namespace rt::detail {

InlineFibers::InlineFibers(Scheduler& scheduler, Party& party, std::uint32_t count, Run run)
    : scheduler_(scheduler), run_(std::move(run)), living_(count) {
  for (std::uint32_t i = 0; i < count; ++i) {
    Place& place = *places_.emplace_back(std::make_unique<Place>(party));
    place.strand.body = [this, &place] { work(place); };
    place.strand.on_ended = [this] {
      if (--living_ == 0) scheduler_.poller().complete(all_ended_);
    };
    scheduler_.begin(place.strand);
  }
}

// Where the party is being ended its fibers are too; else the methods under way end by themselves.
InlineFibers::~InlineFibers() {
  is_over_ = true;
  letters_.clear();
  for (const auto& place : places_)
    if (place->is_awaited) scheduler_.poller().complete(place->arrived);
  while (living_ > 0) try {
      all_ended_.reset();
      (void)scheduler_.poller().wait(all_ended_, TimePoint::max());
    } catch (const Exception&) {  // a method waits for what nobody is about to do
      for (const auto& place : places_)
        if (!place->strand.fiber->has_ended()) scheduler_.end(place->strand);
    }
}

void InlineFibers::push(Mailbox::Letter letter) {
  letters_.push_back(std::move(letter));
  const auto idle = std::find_if(places_.begin(), places_.end(), [](const auto& place) { return place->is_awaited; });
  if (idle == places_.end()) return;
  (*idle)->is_awaited = false;
  scheduler_.poller().complete((*idle)->arrived);
}

std::optional<Mailbox::Letter> InlineFibers::take_out(const Transport* caller, std::uint64_t sequence) {
  const auto it = std::find_if(letters_.begin(), letters_.end(), [&](const Mailbox::Letter& letter) {
    return letter.from.get() == caller && letter.header.sequence == sequence;
  });
  if (it == letters_.end()) return std::nullopt;
  Mailbox::Letter letter = std::move(*it);
  letters_.erase(it);
  return letter;
}

bool InlineFibers::cancel(const Transport* caller, std::uint64_t sequence) {
  return std::any_of(places_.begin(), places_.end(),
                     [&](const auto& place) { return place->slot.cancel(caller, sequence); });
}

void InlineFibers::look(const std::function<void(const RunningCall&)>& at) const {
  for (const auto& place : places_) at(place->slot.call());
}

void InlineFibers::work(Place& place) {
  try {
    while (!is_over_) {
      if (letters_.empty()) {
        place.arrived.reset();
        place.is_awaited = true;
        (void)scheduler_.poller().wait(place.arrived, TimePoint::max());
        place.is_awaited = false;
        continue;
      }
      const Mailbox::Letter letter = std::move(letters_.front());
      letters_.pop_front();
      run_(letter, place.slot);
    }
  } catch (const WorkerEnds&) {
  }
}

}  // namespace rt::detail
