package mqtttest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha512"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"pressbox/packaging/check"
)

// Certificates writes ca.pem, and cert.pem and key.pem for 127.0.0.1, and returns the path of
// ca.pem.
func Certificates(tb testing.TB, dir string) (ca string) {
	tb.Helper()
	authority := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		KeyUsage: x509.KeyUsageCertSign,
	}
	host := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "broker"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore:   authority.NotBefore, NotAfter: authority.NotAfter,
	}
	caKey := check.Must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(tb)
	key := check.Must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(tb)
	write := func(name, kind string, content []byte) string {
		path := filepath.Join(dir, name)
		check.NoError(tb, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content}), 0o600))
		return path
	}
	write("cert.pem", "CERTIFICATE",
		check.Must(x509.CreateCertificate(rand.Reader, host, authority, &key.PublicKey, caKey))(tb))
	write("key.pem", "PRIVATE KEY", check.Must(x509.MarshalPKCS8PrivateKey(key))(tb))
	return write("ca.pem", "CERTIFICATE",
		check.Must(x509.CreateCertificate(rand.Reader, authority, authority, &caKey.PublicKey, caKey))(tb))
}

// PasswordLine returns a line of mosquitto's password file.
func PasswordLine(user, password string) string {
	const rounds = 101
	salt := []byte("pressbox tes") // twelve bytes
	hash, err := pbkdf2.Key(sha512.New, password, salt, rounds, sha512.Size)
	if err != nil {
		panic(err)
	}
	encode := base64.StdEncoding.EncodeToString
	return fmt.Sprintf("%s:$7$%d$%s$%s\n", user, rounds, encode(salt), encode(hash))
}
