import { shipped } from '../base/places.ts';
import { type Picture, type PictureSize, pictureOption } from './picture.ts';
import { chartToSvg } from './svg.ts';

/** In pixels: sharp at the shown size on screens with a high resolution. */
const pixels = 1000;
/** It is drawn smaller than it is shown on a desk, so that its words can be read on a phone. */
const drawnSize: PictureSize = { width: 500, height: 320 };
/** The size at which mail programs show a picture, in CSS pixels. */
export const pictureSize: PictureSize = { width: 590, height: 378 };
/** Has the widths of Arial, for which ECharts estimates. It comes with Costbook, because machines have different fonts. */
const fontFamily = 'Arimo';

/** Draws a picture as PNG, with a font of its own. Throws if the drawing or its font cannot be loaded. */
export async function pictureToPng(picture: Picture): Promise<Buffer> {
  // Loaded only where something is drawn: a native module that other commands need not wait for.
  const { Resvg } = await import('@resvg/resvg-js');
  const option = { ...pictureOption(picture, drawnSize), textStyle: { fontFamily } };
  // Its words travel next to a PNG, not in it.
  const svg = chartToSvg({ id: 'picture', title: '', description: '', option }, drawnSize);
  const drawing = new Resvg(svg, {
    fitTo: { mode: 'width', value: pixels },
    font: {
      fontFiles: [shipped('dist/Arimo_400Regular.ttf'), shipped('dist/Arimo_700Bold.ttf')],
      loadSystemFonts: false,
      defaultFontFamily: fontFamily,
    },
  });
  return drawing.render().asPng();
}
