// The head's leases: gangs asked for, granted first come first served, and free once their last process is gone.

#include <algorithm>

#include "rt/runtime/head/emit.h"

namespace rt {
namespace {

constexpr std::uint32_t kMostBundles = 1 << 16;

}  // namespace

void Head::on_lease(Origin from, std::uint64_t request, wire::LeaseRequest::Reader asked) {
  const GangRequest gang{asked.getSize(), asked.getCpusPerBundle(), asked.getGpusPerBundle()};
  if (gang.size == 0 || gang.size > kMostBundles)
    return fail(from, request,
                {Code::Invalid, "a lease of " + std::to_string(gang.size) + " bundles was asked for; it has 1 to " +
                                    std::to_string(kMostBundles)});
  if (const Status possible = ledger_.check_possible(gang); !possible) return fail(from, request, possible.error());
  pending_.push_back({from, request, 0, gang});
  grant_pending();
}

// Its answer may be under way already; the client, which no longer waits for it, then has nobody else to release it.
void Head::on_cancel(Origin from, std::uint64_t request) {
  if (request == 0) return;
  std::erase_if(pending_, [&](const Pending& p) { return p.owner == from && p.request == request; });
  const auto granted = std::find_if(leases_.begin(), leases_.end(), [&](const auto& entry) {
    return entry.second.owner == from && entry.second.request == request;
  });
  if (granted != leases_.end()) release(granted->first, who(from));
  grant_pending();
}

void Head::on_release(Origin from, LeaseId id, std::uint64_t request) {
  if (const auto it = leases_.find(id); it != leases_.end() && it->second.owner == from) release(id, who(from));
  done(from, request);
}

void Head::release(LeaseId id, const std::string& by) {
  Lease& lease = leases_.at(id);
  lease.releasing = true;
  const std::set<std::uint64_t> actors = lease.actors;
  for (const std::uint64_t actor : actors) kill(actor, {.by = by, .cause = "its lease was released by " + by});
  free_if_empty(id);
}

// Requests that fitted the cluster when they came, and never will again.
void Head::refuse_impossible() {
  const std::vector<Pending> waiting = pending_;
  for (const Pending& pending : waiting) {
    const Status possible = ledger_.check_possible(pending.gang);
    if (possible) continue;
    if (pending.actor != 0) {
      bury_with(pending.actor, wire::DeathKind::NOT_STARTED, possible.error().message);
      continue;
    }
    std::erase_if(pending_, [&](const Pending& p) { return p.owner == pending.owner && p.request == pending.request; });
    fail(pending.owner, pending.request, possible.error());
  }
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
  leases_[id] = Lease{.owner = pending.owner, .request = pending.request, .bundles = places};
  if (pending.actor != 0) {
    Actor& actor = actors_.at(pending.actor);
    actor.lease = id;
    actor.bundle = 0;  // whatever its spawn said of a lease that it didn't name
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
