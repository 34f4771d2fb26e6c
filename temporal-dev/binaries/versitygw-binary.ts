import type { BinarySpec } from './binary-spec.ts';
import { pinnedGo } from './pinned-go.ts';

/** A second server with the interface of S3, for `npm run prove`. Unlike SeaweedFS, it refuses signatures for another region. */
export const versitygwBinary: BinarySpec = {
  name: 'versitygw',
  title: 'versitygw',
  version: '1.8.0',
  variable: 'STACK_VERSITYGW_BIN',
  commands: ['versitygw'],
  accepted: { from: '1.8', below: '2' },
  versionArguments: ['--version'],
  versionPattern: /Version\s*: v?(\d+\.\d+\.\d+)/,
  official: { page: 'https://github.com/versity/versitygw/releases/tag/v1.8.0', assets: {} },
  goModule: {
    directory: 'versitygw',
    package: 'github.com/versity/versitygw/cmd/versitygw',
    versionVariable: 'main.Version',
    oldestGo: '1.25',
    toolchain: pinnedGo,
  },
  remedy: () => 'sudo apt-get install -y python3-pip',
};
