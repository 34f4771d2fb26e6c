import type { BinarySpec } from './binary-spec.ts';
import { pinnedGo } from './pinned-go.ts';

/** An emulator of Google Cloud Storage on a folder, for tests. It checks no signature. */
export const gcsBinary: BinarySpec = {
  name: 'gcs',
  title: 'fake-gcs-server',
  version: '1.56.1',
  variable: 'STACK_GCS_BIN',
  commands: ['fake-gcs-server'],
  accepted: { from: '1.56', below: '2' },
  // It prints no version; go.sum pins the one that is built.
  versionArguments: ['-h'],
  versionPattern: 'none',
  official: { page: 'https://github.com/fsouza/fake-gcs-server/releases/tag/v1.56.1', assets: {} },
  goModule: {
    directory: 'gcs',
    package: 'github.com/fsouza/fake-gcs-server',
    oldestGo: '1.26',
    toolchain: pinnedGo,
  },
  remedy: () => 'sudo apt-get install -y python3-pip',
};
