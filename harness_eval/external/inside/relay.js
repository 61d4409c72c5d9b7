// The same as relay.py for boxes without a python3: node relay.js SOCKET PORT_FILE
const fs = require("fs");
const net = require("net");

const [path, file] = process.argv.slice(2);
let port = 0;
try {
  port = Number(fs.readFileSync(file, "utf8")) || 0;
} catch {
  port = 0;
}
const server = net.createServer({ allowHalfOpen: true }, (connection) => {
  const gateway = net.connect({ path, allowHalfOpen: true });
  const end = () => (connection.destroy(), gateway.destroy());
  connection.on("error", end).pipe(gateway);
  gateway.on("error", end).pipe(connection);
});
server.listen(port, "127.0.0.1", () => {
  fs.writeFileSync(`${file}.new`, String(server.address().port));
  fs.renameSync(`${file}.new`, file);
});
