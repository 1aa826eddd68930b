#include "rt/actors/inline/wait_graph.h"

#include <algorithm>

#include "rt/actors/inline/scheduler.h"
#include "rt/actors/inspection.h"

namespace rt::detail {

namespace {

Strand* strand_for_no_call(const Party& party) {
  const auto it = std::find_if(party.strands.begin(), party.strands.end(),
                               [](const Strand* strand) { return strand->waits_for_no_call(); });
  return it == party.strands.end() ? nullptr : *it;
}

}  // namespace

// By actor, then in the order of their sending.
std::vector<CallUnderWay> WaitGraph::awaited_by(const Party& party) {
  if (!party.client) return {};
  std::vector<CallUnderWay> calls = party.client->under_way();
  std::erase_if(calls, [](const CallUnderWay& call) { return !call.state->is_awaited(); });
  std::sort(calls.begin(), calls.end(), [](const auto& a, const auto& b) {
    return std::pair(a.actor, a.state->route.sequence) < std::pair(b.actor, b.state->route.sequence);
  });
  return calls;
}

Party* WaitGraph::find(ActorId actor) const {
  const auto it = std::find_if(parties_.begin(), parties_.end(), [&](const Party* one) { return one->actor == actor; });
  return it == parties_.end() ? nullptr : *it;
}

// Until somebody who isn't there, waits for no call, or comes a second time.
std::vector<WaitGraph::Link> WaitGraph::chain_of(Party& first) const {
  std::vector<Link> chain;
  for (Party* party = &first; party; party = find(chain.back().call.actor)) {
    if (std::any_of(chain.begin(), chain.end(), [&](const Link& link) { return link.waits == party; })) break;
    const auto calls = awaited_by(*party);
    if (calls.empty()) break;
    chain.push_back({party, calls.front()});
  }
  return chain;
}

// Those that wait for nobody but each other.
std::vector<Party*> WaitGraph::stuck_together() const {
  std::vector<std::pair<Party*, std::vector<CallUnderWay>>> waiting;
  for (Party* const party : parties_)
    if (auto calls = awaited_by(*party); !calls.empty() && !strand_for_no_call(*party))
      waiting.emplace_back(party, std::move(calls));
  const auto can_be_answered = [&](const CallUnderWay& call) {
    return std::none_of(waiting.begin(), waiting.end(),
                        [&](const auto& one) { return one.first->actor == call.actor; });
  };
  while (std::erase_if(waiting, [&](const auto& one) {
           return std::any_of(one.second.begin(), one.second.end(), can_be_answered);
         }) > 0) {
  }
  std::vector<Party*> stuck;
  for (const auto& [party, calls] : waiting) stuck.push_back(party);
  return stuck;
}

std::string WaitGraph::in_words(const std::vector<Link>& chain) const {
  std::string words = chain.front().waits->words;
  for (const Link& link : chain) {
    const Party* const other = find(link.call.actor);
    words += (&link == &chain.front() ? " waits for " : ", which waits for ") +
             (other ? other->words : "actor " + std::to_string(link.call.actor) + ", which has not started,") + " (" +
             method_in_words(link.call.method) + ")";
  }
  return words;
}

bool WaitGraph::break_a_circle() const {
  const std::vector<Party*> stuck = stuck_together();
  if (stuck.empty()) return false;
  std::vector<Link> chain = chain_of(*stuck.front());
  const Party* const again = find(chain.back().call.actor);
  chain.erase(chain.begin(),
              std::find_if(chain.begin(), chain.end(), [&](const Link& link) { return link.waits == again; }));
  chain.back().waits->client->give_up(
      chain.back().call, {Code::Deadlock, "these wait for each other, and none could ever go on: " + in_words(chain)});
  return true;
}

WaitGraph::End WaitGraph::end_of(Party& first) const {
  const std::vector<Link> chain = chain_of(first);
  const std::string nothing = "nothing can run any more: ";
  const std::string no_call = "waits for what nobody is about to do";
  if (chain.empty() || strand_for_no_call(first))
    return {&first, std::nullopt, nullptr, {Code::Deadlock, nothing + first.words + " " + no_call}};
  Party* const last = find(chain.back().call.actor);
  Strand* const strand = last ? strand_for_no_call(*last) : nullptr;
  if (!strand) return {chain.back().waits, chain.back().call, nullptr, {Code::Deadlock, nothing + in_words(chain)}};
  return {last, std::nullopt, strand, {Code::Deadlock, nothing + in_words(chain) + ", which " + no_call}};
}

}  // namespace rt::detail
