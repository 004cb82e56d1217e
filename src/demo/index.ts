export { prepareFolder } from './folder.ts';
export { startInventedPlatform } from './invented-platform.ts';
export { demoReports, describeStory, readStory } from './story.ts';
