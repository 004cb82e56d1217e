export { startInventedPlatform } from './emulated-platform.ts';
export { prepareFolder } from './folder.ts';
export { demoReports, describeStory, readStory } from './story.ts';
