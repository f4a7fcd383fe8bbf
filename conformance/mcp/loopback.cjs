// The suites and reference servers listen on all interfaces. Loaded with `node --require ./loopback.cjs ...`, this makes
// them listen on loopback only, and print the port.
"use strict";

const { Server } = require("node:net");

const bind = Server.prototype._listen2;

Server.prototype._listen2 = function (address, port, type, ...rest) {
  if (typeof port === "number" && port >= 0) {
    this.once("listening", () => process.stderr.write(`listening on ${this.address().port}\n`));
    return bind.call(this, "127.0.0.1", port, 4, ...rest);
  }
  return bind.call(this, address, port, type, ...rest);
};
