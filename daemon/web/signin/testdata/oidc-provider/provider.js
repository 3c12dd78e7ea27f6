// An OpenID Connect provider for one test: it demands PKCE, says iss in every
// callback, and believes whatever name is typed. It prints its issuer, and ends
// when its standard input does.
import http from "node:http";
import Provider from "oidc-provider";

const [redirect, secret] = process.argv.slice(1);
const server = http.createServer();
server.listen(0, "127.0.0.1", () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, {
    clients: [{ client_id: "pressbox", client_secret: secret, redirect_uris: [redirect] }],
    pkce: { required: () => true },
    claims: { openid: ["sub"], profile: ["name"] },
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, name: `${id} of the provider` }) }),
    cookies: { keys: [secret] },
  });
  server.on("request", provider.callback());
  console.log(issuer);
});
process.stdin.on("end", () => process.exit(0)).resume();
