export { groupMembership } from './group-membership.ts';
export { groupSetting } from './group-setting.ts';
export { group } from './group.ts';
