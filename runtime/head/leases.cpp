// The head's leases: gangs asked for, granted first come first served, and free once their last process is gone.

#include <algorithm>

#include "rt/runtime/head/emit.h"

namespace rt {

void Head::on_lease(Origin from, std::uint64_t request, wire::LeaseRequest::Reader asked) {
  const GangRequest gang{asked.getSize(), asked.getCpusPerBundle(), asked.getGpusPerBundle()};
  if (gang.size == 0) return fail(from, request, {Code::Invalid, "a lease of no bundles was asked for"});
  if (const Status possible = ledger_.check_possible(gang); !possible) return fail(from, request, possible.error());
  pending_.push_back({from, request, 0, gang});
  grant_pending();
}

void Head::on_cancel(Origin from, std::uint64_t request) {
  std::erase_if(pending_, [&](const Pending& p) { return p.owner == from && p.request == request && p.actor == 0; });
  grant_pending();
}

void Head::on_release(Origin from, LeaseId id, std::uint64_t request) {
  const auto it = leases_.find(id);
  if (it != leases_.end() && it->second.owner == from) {
    it->second.releasing = true;
    const std::set<std::uint64_t> actors = it->second.actors;
    for (const std::uint64_t actor : actors) kill(actor, actors_.at(actor));
    free_if_empty(id);
  }
  done(from, request);
}

void Head::grant_pending() {
  while (!pending_.empty()) {
    const LeaseId id = (term_ << 32) + next_lease_;
    auto places = ledger_.place(id, pending_.front().gang);
    if (!places) return;
    ++next_lease_;
    const Pending first = pending_.front();
    pending_.erase(pending_.begin());
    grant(first, std::move(*places), id);
  }
}

void Head::grant(const Pending& pending, std::vector<BundlePlace> places, LeaseId id) {
  leases_[id] = Lease{.owner = pending.owner, .request = pending.gang, .bundles = places};
  if (pending.actor != 0) {
    Actor& actor = actors_.at(pending.actor);
    actor.lease = id;
    actor.owns_lease = true;
    leases_[id].actors.insert(pending.actor);
    return start(pending.actor, actor);
  }
  emit(pending.owner, pending.request, [&](Control::Builder control) {
    auto lease = control.initReply().initLease();
    lease.setId(id);
    auto bundles = lease.initBundles(static_cast<unsigned>(places.size()));
    for (unsigned i = 0; i < places.size(); ++i) fill_bundle(bundles[i], places[i]);
  });
}

void Head::free_if_empty(LeaseId id) {
  const auto it = leases_.find(id);
  if (it == leases_.end() || !it->second.releasing || !it->second.actors.empty()) return;
  leases_.erase(it);
  ledger_.release(id);
  keys_.remove_prefix("lease/" + std::to_string(id) + "/");
  grant_pending();
}

}  // namespace rt
