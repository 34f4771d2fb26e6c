import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findBinary, type SearchContext } from '#temporal-dev/binaries/find-binary.ts';
import { seaweedBinary } from '#temporal-dev/binaries/seaweed-binary.ts';
import { answers, S3_CREDENTIALS } from '#temporal-dev/servers/launch-s3.ts';
import { eventually } from './eventually.ts';
import { freePorts } from './servers/free-ports.ts';
import type { ObjectStore } from './object-stores.ts';

const host = '127.0.0.1';

/** The servers of which it consists; each also has a port for gRPC. */
const servers = ['master', 'volume', 'filer', 's3'];

/** Starts SeaweedFS with its data in the state folder, which is deleted in the end. */
export async function startSeaweed(search: SearchContext): Promise<ObjectStore> {
  const { stateDir } = search;
  const { path } = await findBinary(seaweedBinary, search);
  const names = servers.flatMap((name) => [`${name}.port`, `${name}.port.grpc`]);
  const ports = await freePorts(names.length);
  const { accesskeyid: accessKey, secretaccesskey: secretKey } = S3_CREDENTIALS;
  const config = join(stateDir, 's3.json');
  const identity = {
    name: 'tests',
    credentials: [{ accessKey, secretKey }],
    actions: ['Admin', 'Read', 'Write', 'List'],
  };
  await writeFile(config, JSON.stringify({ identities: [identity] }));
  const listening = names.map((name, index) => `-${name}=${ports[index]}`);
  const storing = [`-dir=${stateDir}`, '-volume.max=100', '-master.volumeSizeLimitMB=64'];
  const child = spawn(
    path,
    ['server', '-s3', `-s3.config=${config}`, `-ip=${host}`, `-ip.bind=${host}`, ...listening, ...storing],
    { cwd: stateDir, stdio: 'ignore' },
  );
  const ended = once(child, 'exit');
  const killWithTests = () => child.kill('SIGKILL');
  process.once('exit', killWithTests);
  const url = `http://${host}:${ports[names.indexOf('s3.port')]}`;
  await eventually(() => {
    if (child.exitCode !== null) throw new Error(`SeaweedFS ended with ${child.exitCode}`);
    return answers(url);
  });
  return {
    url,
    stop: async () => {
      process.off('exit', killWithTests);
      child.kill('SIGKILL');
      await ended;
      await rm(stateDir, { recursive: true, force: true });
    },
  };
}
