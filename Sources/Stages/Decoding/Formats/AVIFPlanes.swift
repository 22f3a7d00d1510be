import AVIF
import ImageModel
import Messages
import StageContract
import Vips
import Zimg

/// A decoded AVIF whose planes mean sRGB.
struct AVIFPlanes: ~Copyable, PlanarImage {
    private let reader: AVIFReader
    private let layout: PixelLayout
    /// What makes the layout's planes of those of the file; nil where they are the same.
    private let conversion: ZimgConversion?
    private let byteCount: Int

    /// Nil for what planes cannot say, and for what is damaged: the decoder of pixels says what.
    init?(_ source: SourceImage, limits: ImageLimits) {
        guard !source.needsProfile, source.header.bands == 3, source.header.bytesPerBand == 1,
            var reader = try? AVIFFrames.still(of: source.bytes).open(source.bytes)
        else { return nil }
        let (picture, orientation) = (reader.picture, reader.picture.orientation)
        guard let colours = AVIFColours(picture), !picture.isCropped,
            orientation.displayed(PixelSize(width: picture.width, height: picture.height))
                == source.storedSize
        else { return nil }
        var (planes, end): ([PixelPlane], Int) = ([], 0)
        for index in 0..<picture.planeCount {
            let plane = Self.plane(index, of: picture, at: end)
            planes.append(plane)
            end += plane.stride * Self.paddedRows(index, of: picture)
        }
        guard end <= limits.pixelBytesMax,
            (try? reader.decode(0, in: source.bytes) { false }) != nil, reader.picture == picture
        else { return nil }
        self.reader = reader
        layout = PixelLayout(planes: planes, orientation: orientation)
        conversion = colours.conversion(of: picture)
        byteCount = end
    }

    consuming func write(
        to output: some OutputSpace, with kept: KeptBytes, cancellation: CancellationFlag
    ) throws(ImageError) -> DecodedImage.Frame {
        guard !cancellation.isCancelled else { throw .cancelled }
        let block = try output.reserve(byteCount + kept.byteCount)
        do throws(ImageError) {
            let pixels = UnsafeMutableRawBufferPointer(rebasing: block.bytes[..<byteCount])
            try writePlanes(to: pixels, cancellation)
        } catch {
            output.discard(block)
            throw error
        }
        return block.frame(layout, pixelBytes: byteCount, with: kept)
    }

    private borrowing func writePlanes(
        to block: UnsafeMutableRawBufferPointer, _ cancellation: CancellationFlag
    ) throws(ImageError) {
        guard let conversion else { return try copy(to: block) }
        // The samples behind odd columns and rows are read, and change nothing that is displayed.
        let stored = UnsafeMutableRawBufferPointer.allocate(byteCount: byteCount, alignment: 64)
        defer { stored.deallocate() }
        stored.initializeMemory(as: UInt8.self, repeating: 0)
        try copy(to: stored)
        do {
            try ZimgGraph(conversion).process(
                from: parts(of: stored).map {
                    ZimgPlaneSource(memory: UnsafeRawBufferPointer($0.memory), stride: $0.stride)
                },
                to: parts(of: block).map { ZimgPlaneTarget(memory: $0.memory, stride: $0.stride) },
                isCancelled: { cancellation.isCancelled })
        } catch {
            throw ImageError(decoding: error)
        }
    }

    private borrowing func copy(
        to block: UnsafeMutableRawBufferPointer
    ) throws(ImageError) {
        for (index, part) in parts(of: block).enumerated() {
            do {
                try reader.copy(plane: index, to: part.memory, stride: part.stride)
            } catch {
                throw ImageError(.internalError, "the planes of the image could not be taken")
            }
        }
    }

    /// Where each plane lies in memory that is as large as all of them.
    private borrowing func parts(
        of memory: UnsafeMutableRawBufferPointer
    ) -> [(memory: UnsafeMutableRawBufferPointer, stride: Int)] {
        let ends = layout.planes.dropFirst().map(\.offset) + [byteCount]
        return zip(layout.planes, ends).map { plane, end in
            (UnsafeMutableRawBufferPointer(rebasing: memory[plane.offset..<end]), plane.stride)
        }
    }

    /// Half of an odd column is half a sample of colour.
    private static func plane(
        _ index: Int, of picture: AVIFPicture, at offset: Int
    ) -> PixelPlane {
        let size = picture.size(ofPlane: index)
        let (across, down) =
            index == 0 ? (0, 0) : (picture.chroma.horizontalLog2, picture.chroma.verticalLog2)
        return PixelPlane(
            bands: .grey, offset: offset, size: PixelSize(width: size.width, height: size.height),
            stride: PixelPlane.stride(size.width + 1),
            activeWidth: Double(picture.width) / Double(1 << across),
            activeHeight: Double(picture.height) / Double(1 << down))
    }

    /// zimg takes even numbers of rows where colours have half of them.
    private static func paddedRows(_ index: Int, of picture: AVIFPicture) -> Int {
        let rows = picture.size(ofPlane: index).height
        return index == 0 && picture.chroma.verticalLog2 == 1 ? rows + rows % 2 : rows
    }
}
