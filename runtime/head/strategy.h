#pragma once
// Who is restarted with a child of a supervisor that died. The rules are supervisor_state.h's.

namespace rt {

enum class Strategy { OneForOne, OneForAll, RestForOne };

}  // namespace rt
