package onnx

// #include <malloc.h>
import "C"

// giveBack returns to the system the memory that the C library keeps of a closed model.
func giveBack() { C.malloc_trim(0) }
