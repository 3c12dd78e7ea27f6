// This module builds nothing. It pins the ONNX Runtime libraries, so that
// "go mod download" fetches them and go.sum holds them to their bytes.
module pressbox/packaging/onnxruntime

go 1.26

require github.com/k2-fsa/sherpa-onnx-go-linux v1.13.8
