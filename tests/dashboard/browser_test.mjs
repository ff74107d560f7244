// Opens the live page of 256 workers and 2,000 rounds while they are played: an update must take less than 100 ms, and so
// must each piece of the first one, twice that where the machine is busy; the page must hold less than 50 MiB, ask nobody
// but its own server, and meet no error. Speaks to Chromium over its pipe.
import {spawn} from 'node:child_process';
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';

const [feed, directory] = process.argv.slice(2);
const kWorkers = 256, kRounds = 2000, kMostUpdate = 100, kMostHeap = 50 * 2 ** 20;
const problems = [];
const sleep = ms => new Promise(done => setTimeout(done, ms));

const profile = mkdtempSync(join(tmpdir(), 'paceline-browser-'));
const server = spawn(feed, [':0', kWorkers, kRounds, 4, 150].map(String), {stdio: ['pipe', 'pipe', 'inherit']});
const url = await new Promise(found => server.stdout.once('data', text => found(String(text).trim())));
const browser = spawn('chromium', ['--headless=new', '--no-sandbox', '--disable-gpu', '--no-first-run', '--hide-scrollbars',
  '--remote-debugging-pipe', `--user-data-dir=${profile}`, '--window-size=1320,1000', 'about:blank'],
  {stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe']});

// ---- the pipe: JSON messages, each ended by a zero ----
const waiting = new Map();
let number = 0, rest = '', session;
const on_event = ({method, params}) => {
  if (method === 'Network.requestWillBeSent') {
    const asked = params.request.url;
    if (!asked.startsWith(url) && !asked.startsWith('data:')) problems.push(`asks for ${asked}`);
  }
  if (method === 'Runtime.exceptionThrown') problems.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
  if (method === 'Log.entryAdded' && params.entry.level === 'error') problems.push(params.entry.text);
};
browser.stdio[4].on('data', bytes => {
  const messages = (rest + bytes).split('\0');
  rest = messages.pop();
  for (const message of messages.map(text => JSON.parse(text))) {
    if (!message.id) { on_event(message); continue; }
    const {done, failed} = waiting.get(message.id);
    waiting.delete(message.id);
    message.error ? failed(new Error(message.error.message)) : done(message.result);
  }
});
const send = (method, params = {}) => new Promise((done, failed) => {
  waiting.set(++number, {done, failed});
  browser.stdio[3].write(JSON.stringify({id: number, method, params, ...(session && {sessionId: session})}) + '\0');
});
const evaluate = async expression => (await send('Runtime.evaluate', {expression, returnByValue: true, awaitPromise: true})).result.value;
const screenshot = async name => {
  const {cssContentSize: size} = await send('Page.getLayoutMetrics');
  const {data} = await send('Page.captureScreenshot',
    {captureBeyondViewport: true, clip: {x: 0, y: 0, width: size.width, height: size.height, scale: 1}});
  writeFileSync(join(directory, name), Buffer.from(data, 'base64'));
};

const test = async () => {
  const {targetInfos} = await send('Target.getTargets');
  const {sessionId} = await send('Target.attachToTarget',
    {targetId: targetInfos.find(target => target.type === 'page').targetId, flatten: true});
  session = sessionId;
  for (const domain of ['Page', 'Network', 'Runtime', 'Log', 'HeapProfiler']) await send(`${domain}.enable`);
  await send('Page.addScriptToEvaluateOnNewDocument', {source: `
    globalThis.durations = {'paceline update': [], 'paceline piece': []};
    new PerformanceObserver(list => {
      for (const {name, duration} of list.getEntries()) durations[name]?.push(duration);
    }).observe({entryTypes: ['measure']});`});
  await send('Page.navigate', {url});

  let peak = 0, pictured = false, rounds = 0;
  for (let tries = 0; tries < 120 && rounds < kRounds; ++tries) {
    await sleep(500);
    rounds = await evaluate(`parseInt((document.querySelector('#tiles .more')?.textContent ?? '0').replace(',', ''))`);
    peak = Math.max(peak, (await send('Runtime.getHeapUsage')).usedSize);
    if (rounds > kRounds / 2 && !pictured) {
      pictured = true;
      await screenshot('dashboard.png');
      await send('Emulation.setEmulatedMedia', {features: [{name: 'prefers-color-scheme', value: 'dark'}]});
      await sleep(300);
      await screenshot('dashboard-dark.png');
      await send('Emulation.setEmulatedMedia', {features: []});
      if (process.env.PARTS) {
        await evaluate(`document.querySelectorAll('#tabs input')[1].click()`);
        await sleep(300);
        await screenshot('newest.png');
        await evaluate(`document.querySelectorAll('#tabs input')[0].click()`);
      }
    }
  }
  if (rounds !== kRounds) problems.push(`shows ${rounds} rounds`);
  await sleep(2500);
  await send('HeapProfiler.collectGarbage');
  const kept = (await send('Runtime.getHeapUsage')).usedSize;
  const [updates, pieces] = (await evaluate('Object.values(durations)')).map(list => list.sort((a, b) => a - b));
  const longest = Math.max(...pieces, ...updates.slice(-1));
  const slowest = updates[updates.length - 1], median = updates[updates.length >> 1];
  console.log(`${kWorkers} workers, ${rounds} rounds: ${updates.length} updates, median ${median?.toFixed(1)} ms, slowest ` +
              `${slowest?.toFixed(1)} ms, pieces of the first up to ${Math.max(...pieces).toFixed(1)} ms; heap ${(kept / 2 ** 20).toFixed(1)} MiB, at most ${(peak / 2 ** 20).toFixed(1)} MiB`);
  if (!(updates.length >= 5)) problems.push('hardly any update');
  if (!(median < kMostUpdate)) problems.push(`an update takes ${median} ms`);
  if (!(longest < 2 * kMostUpdate)) problems.push(`the page does not answer for ${longest} ms`);
  if (!(peak < kMostHeap && kept < kMostHeap)) problems.push('it takes too much memory');

  server.stdin.end();
  await new Promise(done => server.once('exit', done));
  await sleep(2500);
  if (await evaluate(`document.getElementById('lost').hidden`)) problems.push('does not say that the run has ended');
  const expected = /ERR_CONNECTION_REFUSED|Failed to load resource/;  // of the last questions
  return problems.filter(problem => !expected.test(problem));
};

const limit = setTimeout(() => { console.log('no end after 110 s'); clean(1); }, 110000);
const clean = code => {
  clearTimeout(limit);
  server.kill();
  browser.kill('SIGKILL');
  browser.once('exit', () => {
    rmSync(profile, {recursive: true, force: true, maxRetries: 5, retryDelay: 200});
    process.exit(code);
  });
};
const found = await test().catch(error => [String(error)]);
for (const problem of found) console.log(`FAILED: ${problem}`);
clean(found.length ? 1 : 0);
