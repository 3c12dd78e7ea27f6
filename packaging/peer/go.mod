// The program that "make bench" compares the speech of Pressbox with. Pressbox is not
// linked with it: sherpa-onnx contains espeak-ng, which is GPL-3.0.
module pressbox/packaging/peer

go 1.26

require github.com/k2-fsa/sherpa-onnx-go-linux v1.13.8
