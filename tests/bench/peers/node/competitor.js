// The competitor of node-redlock with ioredis, as its README uses them; the contract is in competitor.c. Its
// modules are in the folder that NODE_PATH names.
"use strict";

const fs = require("fs");
const Redis = require("ioredis");
const { default: Redlock } = require("redlock");

const [mode, address, name, waiters, sectionUs, seconds, checkPath] = process.argv.slice(2);
const [host, port] = address.split(":");
const redlock = new Redlock([new Redis({ host, port: Number(port) })], {
  driftFactor: 0.01,
  retryCount: 10,
  retryDelay: 200,
  retryJitter: 200,
  automaticExtensionThreshold: 500,
});
const leaseMs = 5000;
const check = checkPath === "-" ? null : fs.openSync(checkPath, "r+");

const counts = new Array(Number(waiters)).fill(0);
const since = new Array(Number(waiters)).fill(0);
const waits = [];
const found = { handoffs: 0, overlaps: 0, errors: 0, error: "" };
let end = Infinity;

const now = () => performance.now();
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

// After its 10 tries it is asked again, until the time is up.
async function acquire(lockName) {
  while (now() < end) {
    try {
      return await redlock.acquire([lockName], leaseMs);
    } catch (problem) {
      if (problem.name !== "ExecutionError") throw problem;
    }
  }
  return null;
}

function enter(id) {
  if (check === null) return {};
  const numbers = Buffer.alloc(16);
  fs.readSync(check, numbers, 0, 16, 0);
  const overlaps = numbers.readBigInt64LE(0) !== 0n;
  const isHandoff = numbers.readBigInt64LE(8) !== id;
  numbers.writeBigInt64LE(id, 0);
  numbers.writeBigInt64LE(id, 8);
  fs.writeSync(check, numbers, 0, 16, 0);
  return { overlaps, isHandoff };
}

function leave(id) {
  if (check === null) return false;
  const numbers = Buffer.alloc(8);
  fs.readSync(check, numbers, 0, 8, 0);
  fs.writeSync(check, Buffer.alloc(8), 0, 8, 0);
  return numbers.readBigInt64LE(0) !== id;
}

function countError(problem) {
  if (now() < end && found.errors++ === 0) found.error = String(problem);
}

async function contendOnce(number, id) {
  const start = now();
  since[number] = start;
  const lock = await acquire(name);
  if (lock === null) return;
  const got = now();
  const entered = enter(id);
  if (sectionUs > 0) await sleep(sectionUs / 1000);
  const overlaps = leave(id) || entered.overlaps;
  since[number] = 0;
  if (got < end) {
    counts[number] += 1;
    waits.push(Math.floor((got - start) * 1000));
    if (overlaps) found.overlaps += 1;
    if (entered.isHandoff) found.handoffs += 1;
  }
  await lock.release();
}

async function contend(number) {
  const id = (BigInt(process.pid) << 16n) + BigInt(number) + 1n;
  while (now() < end) {
    try {
      await contendOnce(number, id);
    } catch (problem) {
      countError(problem);
    }
  }
}

// One write, so that lines of several processes in one pipe are in their true order.
function write(line) {
  fs.writeSync(1, `${line.replaceAll("\n", " ")}\n`);
}

async function work(number) {
  const id = (BigInt(process.pid) << 16n) + BigInt(number) + 1n;
  for (;;) {
    try {
      const lock = await acquire(name);
      write(`enter ${id}`);
      await sleep(sectionUs / 1000);
      write(`leave ${id}`);
      await lock.release();
    } catch (problem) {
      write(`failed ${id} ${problem}`);
      await sleep(10);
    }
  }
}

async function run() {
  end = now() + Number(seconds) * 1000;
  for (let i = 0; i < counts.length; ++i) contend(i);
  await sleep(end - now());
  const unfinished = since
    .filter((start) => start !== 0 && start < end)
    .map((start) => Math.floor((end - start) * 1000));
  const results = { counts, waits_us: waits, unfinished_us: unfinished, ...found };
  console.log(JSON.stringify(results));
}

async function main() {
  const warm = now() + 1000;
  while (now() < warm) await (await acquire(`warm-up-${process.pid}`)).release();
  const started = new Promise((done) => process.stdin.once("data", done));
  process.stdin.on("end", () => process.exit(0));
  console.log("ready");
  await started;
  if (mode === "contend") return run();
  if (mode === "work") {
    for (let i = 0; i < counts.length; ++i) work(i);
    return;
  }
  await acquire(name);
  console.log(mode === "hold" ? "held" : "taken");
}

redlock.on("error", () => {});
main().catch((problem) => {
  console.error(problem);
  process.exit(1);
});
