// Generated code of the schemas lands in this library.
