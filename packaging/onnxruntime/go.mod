// This module builds nothing. It pins the ONNX Runtime library for arm, so that
// "go mod download" fetches it and go.sum holds it to its bytes.
module pressbox/packaging/onnxruntime

go 1.26

require github.com/k2-fsa/sherpa-onnx-go-linux v1.13.8
