#pragma once
// WaitGraph: who waits for whom, among parties of which none can go on by itself.
//
// Owner: the scheduler, for one look. A party waits for the actors of its calls that somebody awaits; any of several
// would let it go on. In words the first of them is followed.

#include <optional>
#include <string>
#include <vector>

#include "rt/actors/client.h"

namespace rt::detail {

struct Party;
struct Strand;

class WaitGraph {
 public:
  explicit WaitGraph(const std::vector<Party*>& parties) : parties_(parties) {}

  // Where some wait for each other in a circle, the last of their calls fails with Code::Deadlock. False: none do.
  bool break_a_circle() const;

  // Where the waits that begin with `first` come to an end: whose wait it is, for which call or on which strand it
  // waits for something else (neither: it is the driver's), and the error that says so.
  struct End {
    Party* party;
    std::optional<CallUnderWay> call;
    Strand* strand;
    Error error;
  };
  End end_of(Party& first) const;

 private:
  struct Link {
    Party* waits;
    CallUnderWay call;
  };
  static std::vector<CallUnderWay> awaited_by(const Party& party);
  std::vector<Party*> stuck_together() const;
  Party* find(ActorId actor) const;
  std::vector<Link> chain_of(Party& first) const;
  std::string in_words(const std::vector<Link>& chain) const;

  const std::vector<Party*>& parties_;
};

}  // namespace rt::detail
