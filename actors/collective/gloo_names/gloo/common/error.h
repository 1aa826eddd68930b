#pragma once
// See gloo/context.h.
