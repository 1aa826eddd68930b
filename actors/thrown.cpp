#include "rt/actors/thrown.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <typeinfo>

#include "rt/runtime/wire/codec.h"

namespace rt {
namespace {

std::string name_of(const std::type_info& type) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(abi::__cxa_demangle(type.name(), nullptr, nullptr, &status),
                                                    &std::free);
  return status == 0 ? name.get() : type.name();
}

}  // namespace

CallFailed::CallFailed(Thrown thrown)
    : Exception({Code::Failed, detail::describe(thrown)}), thrown_(std::move(thrown)) {}

std::string detail::describe(const Thrown& thrown) {
  return thrown.text + " (" + thrown.type + ", thrown by actor " + thrown.actor + " on node " +
         std::to_string(thrown.node) + ", pid " + std::to_string(thrown.pid) + ")";
}

Result<Thrown> detail::decode_thrown(std::string_view bytes) {
  try {
    Decoder from(bytes);
    return decode<Thrown>(from);
  } catch (const Exception& e) {
    return e.error();
  }
}

Thrown detail::thrown_here(const std::exception_ptr& exception, const Thrown& place) {
  Thrown thrown = place;
  try {
    std::rethrow_exception(exception);
  } catch (const CallFailed& e) {
    return e.thrown();
  } catch (const std::exception& e) {
    thrown.type = name_of(typeid(e));
    thrown.text = e.what();
  } catch (...) {
    const std::type_info* const type = abi::__cxa_current_exception_type();
    thrown.type = type ? name_of(*type) : "unknown";
    thrown.text = "the method threw what is no std::exception";
  }
  return thrown;
}

}  // namespace rt
