#include <cstdint>
#include <cstring>

#include "rt/runtime/store/store.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace rt {

void copy_large(char* to, const char* from, std::size_t size) {
#if defined(__SSE2__)
  constexpr std::size_t kStreamed = 256 << 10;  // what is smaller may still be in the reader's cache when it reads
  constexpr std::size_t kLine = 64;
  if (size >= kStreamed && reinterpret_cast<std::uintptr_t>(to) % 16 == 0) {
    const std::size_t lines = size / kLine;
    for (std::size_t i = 0; i < lines; ++i, to += kLine, from += kLine) {
      const auto* in = reinterpret_cast<const __m128i*>(from);
      auto* out = reinterpret_cast<__m128i*>(to);
      _mm_prefetch(from + 16 * kLine, _MM_HINT_NTA);
      const __m128i a = _mm_loadu_si128(in), b = _mm_loadu_si128(in + 1), c = _mm_loadu_si128(in + 2),
                    d = _mm_loadu_si128(in + 3);
      _mm_stream_si128(out, a);
      _mm_stream_si128(out + 1, b);
      _mm_stream_si128(out + 2, c);
      _mm_stream_si128(out + 3, d);
    }
    _mm_sfence();
    size -= lines * kLine;
  }
#endif
  if (size > 0) std::memcpy(to, from, size);
}

}  // namespace rt
