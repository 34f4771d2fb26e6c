import type { FoundBinary } from '../binaries/binary-spec.ts';
import { LOOPBACK, requirePort, type Ports } from '../machine/ports.ts';
import type { Launch } from './spawn-server.ts';
import { dataDirectory, logFile } from './stack-state.ts';

/** Of a server that only tests and development use. */
export const S3_CREDENTIALS = { accesskeyid: 'local-access-key', secretaccesskey: 'local-secret-access-key' } as const;

/** The command that starts SeaweedFS: its master, volume server, filer and S3 gateway in one process. */
export function launchS3(stateDir: string, binary: FoundBinary, { ports }: { ports: Ports }): Launch {
  const listening = (['s3', 'master', 'volume', 'filer'] as const).flatMap((server) => {
    const name = server === 's3' ? server : (`s3-${server}` as const);
    return [
      `-${server}.port=${requirePort(ports, name)}`,
      `-${server}.port.grpc=${requirePort(ports, `${name}-grpc`)}`,
    ];
  });
  return {
    part: 's3',
    command: binary.path,
    args: [
      'server',
      '-s3',
      `-ip=${LOOPBACK}`,
      `-ip.bind=${LOOPBACK}`,
      ...listening,
      // Catalogs at fixed ports.
      '-s3.port.iceberg=0',
      '-s3.port.lance=0',
      // In the data folder, like all paths here; by default in /tmp.
      '-s3.localSocket=s3.sock',
      '-filer.localSocket=filer.sock',
      '-dir=.',
      // Volumes are made as they are needed, until the disk is full.
      '-volume.max=0',
      '-master.volumeSizeLimitMB=64',
      // As S3 does it; by default, missing buckets are made, and buckets are deleted together with their objects.
      '-s3.autoCreateBucket=false',
      '-s3.allowDeleteBucketNotEmpty=false',
      '-master.telemetry=false',
    ],
    env: {
      PATH: '/usr/bin:/bin',
      AWS_ACCESS_KEY_ID: S3_CREDENTIALS.accesskeyid,
      AWS_SECRET_ACCESS_KEY: S3_CREDENTIALS.secretaccesskey,
      // One volume for each bucket at first. By default seven are made before the first object is stored.
      WEED_MASTER_VOLUME_GROWTH_COPY_1: '1',
    },
    cwd: dataDirectory(stateDir, 's3'),
    logFile: logFile(stateDir, 's3'),
    stateDir,
  };
}

/** True when the server answers, also when it refuses a request without signature. */
export async function isS3Ready(ports: Ports): Promise<boolean> {
  return answers(`http://${LOOPBACK}:${requirePort(ports, 's3')}/`);
}

/** True when a server answers a request, whatever it answers. */
export async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(2000) });
    await response.arrayBuffer();
    return true;
  } catch {
    return false; // Not listening yet.
  }
}
