/// What is known of a format without a file of it: one row of `rows` for each.
package struct FormatTraits: Sendable {
    /// The format.
    package let format: ImageFormat
    /// The word for it.
    package let name: String
    /// Files of it in plain words, for sentences; its name where that is plain enough.
    package var title: String?
    /// Endings of file names, in lower case and without the dot; each is another word for it.
    package var extensions: [String] = []
    /// The registered media type.
    package var mimeType: String?
    /// Any of these tells the format. Of two rows that match, the first one counts.
    package var signatures: [FormatSignature] = []
    /// The first element of a document of this format, where none of the signatures tells it.
    package var root: String?
    /// Another format that a file with these signatures is, by what stands behind them.
    package var guest: (@Sendable (_ bytes: borrowing HeaderBytes) -> ImageFormat?)?
    /// Whether it can carry transparency.
    package var carriesAlpha = true
    /// Whether it can carry an animation.
    package var isAnimated = false
    /// Whether it is no image, but a video.
    package var isVideo = false
    /// Whether most images in it are photographs: rows of a PNG made of one are filtered.
    package var isPhotographic = false
    /// Where an encoded image says its size, if that can be read without a codec.
    package var storedSize: (@Sendable (_ bytes: borrowing HeaderBytes) -> PixelSize?)?
    /// Where it says how many frames it has, if that can be read without a codec and the codec does
    /// not say it, or says something else; `nil` where the codec is right.
    package var storedFrames: (@Sendable (_ bytes: borrowing HeaderBytes) -> Int?)?
    /// Where it states its colors by numbers; a profile may state them in any format.
    package var statedColors: (@Sendable (_ bytes: borrowing HeaderBytes) -> StatedColors?)?
    /// Pages, counted without a codec up to so many, where its decoder would take long to do so.
    package var pageCount: (@Sendable (_ bytes: borrowing HeaderBytes, _ most: Int) -> Int)?
    /// How it is decoded; `nil` where it is not.
    package var input: FormatInput?
    /// How it is encoded; `nil` where it is not.
    package var output: FormatOutput?
    /// How much longer an encoder takes for a pixel than that of JPEG does, with all around it.
    package var encoderClass: UInt64 = 1
    /// The same without loss, where that is an option.
    package var losslessEncoderClass: UInt64?

    /// How much longer the encoder takes for a pixel with these options than that of JPEG does
    /// without any.
    package func encoderClass(_ options: OutputOptions) -> UInt64 {
        let usual = options.isWithoutLoss ? losslessEncoderClass ?? encoderClass : encoderClass
        guard let output else { return usual }
        var hundredths = usual * (output.efforts?.time(of: options.effort) ?? 100)
        if options.isUsual { return max(1, hundredths / 100) }
        for (setting, time) in output.settingTimes where options[setting] != nil {
            hundredths = hundredths * time / 100
        }
        if options.maxBytes != nil, output.losesSomething(options) {
            hundredths *= UInt64(OutputOptions.triesMax)
        }
        return max(1, hundredths / 100)
    }

    /// Whether this version decodes it.
    package var isDecodable: Bool { input != nil }

    /// Whether it has no pixels of its own: it is drawn as large as it is needed.
    package var isDrawn: Bool { input?.scales == .any }

    /// Whether this version encodes it.
    package var isEncodable: Bool { output != nil }

    /// Whether the word, in lower case, is one for it.
    func isCalled(_ word: String) -> Bool {
        format != .undefined && (name == word || extensions.contains(word))
    }

    static let byFormat = Dictionary(
        uniqueKeysWithValues: rows.map { ($0.format, FormatRow(traits: $0)) })
}

/// A row as an object: who reads one word of its `traits` copies no other.
package final class FormatRow: Sendable {
    package let traits: FormatTraits

    init(traits: FormatTraits) { self.traits = traits }

    static let undefined = FormatRow(traits: .undefined)
}

/// Formats that one process decodes, and no other process.
public enum FormatFamily: Hashable, Sendable, CaseIterable {
    /// Images of pixels.
    case raster
    /// Drawings and documents: programs, almost, which are drawn where an operator wants that.
    case vector
}

/// How a format is decoded.
package struct FormatInput: Sendable {
    /// Whose processes decode it.
    package var family = FormatFamily.raster
    /// The scales at which its decoder makes pixels.
    package var scales = DecodeScales.whole
    /// Whether its pixels may leave the decoder as planes.
    package var hasPlanes = false
    /// What its pages are.
    package var pages = Pages.frames
    /// Whether there is something to see before all of its bytes have come.
    package var isShownPartially = false
    /// What its decoder allocates.
    package var memory = DecoderMemoryRows()
    /// How an image of it is coded, where the header says more than libvips does.
    package var coding: (@Sendable (_ bytes: borrowing HeaderBytes) -> StoredCoding)?

    /// What the pages of a file are to one another.
    package enum Pages: Sendable {
        /// Parts of one image: whoever shows it needs all of them.
        case frames
        /// Images of their own, of which one is decoded.
        case images
    }
}

/// How a format is encoded.
package struct FormatOutput: Sendable {
    /// When encoding loses something.
    package enum Loss: Sendable {
        case always
        case never
        /// Unless the request says otherwise.
        case optional
    }

    package let loss: Loss
    /// Whether what is lost, and so how large a file is, goes by a quality.
    package var hasQuality = true
    /// Whether it stores planes, as far as it is encoded with loss.
    package var takesPlanes = false
    /// The bits that a sample may have, from few to many.
    package var depths = [8]
    /// Whether it says by numbers that its colours are of a high dynamic range.
    package var holdsHDR = false
    /// Whether it is written with all frames of an animation.
    package var holdsFrames = false
    /// Pixels on one side at most.
    package var sideMax = Int(Int32.max)
    /// Pixels at most, where its encoder takes much memory for each.
    package var pixelsMax = Int.max
    /// Whether an image whose source is of this format stays in it where nobody names another.
    package var isKept = false
    /// How many hundredths of the time an encoder takes with a setting that costs some.
    package var settingTimes: [OutputSetting: UInt64] = [:]
    /// What `effort` may be; `nil` where the encoder has none.
    package var efforts: EncoderEfforts?

    /// Whether an image may have that size.
    package func hasRoom(for size: PixelSize) -> Bool {
        max(size.width, size.height) <= sideMax && size.area.map { $0 <= pixelsMax } == true
    }
}

/// The efforts of an encoder, from fast to small.
package struct EncoderEfforts: Sendable {
    /// The lowest one.
    let first: Int
    /// The one that is taken where nobody names one.
    package let usual: Int
    /// How many hundredths of the time of the usual one each takes.
    let times: [UInt64]

    package var range: ClosedRange<Int> { first...(first + times.count - 1) }

    /// The one that is taken: the nearest where the format was not known to who asked.
    package func taken(_ effort: Int?) -> Int {
        min(max(effort ?? usual, range.lowerBound), range.upperBound)
    }

    /// The time of an effort, in hundredths of that of the usual one.
    func time(of effort: Int?) -> UInt64 { times[taken(effort) - first] }
}

extension FormatOutput {
    /// Whether the quality says how large a file is.
    package func losesSomething(_ options: OutputOptions) -> Bool {
        hasQuality && (loss == .always || (loss == .optional && !options.isWithoutLoss))
    }

    /// The bits of a sample that are written where so many are wanted: the fewest that hold them,
    /// else the most that there are.
    package func depth(for wanted: Int) -> Int {
        depths.first { $0 >= wanted } ?? depths[depths.count - 1]
    }

    /// Whether planes become this format without being joined.
    package func takesPlanes(lossless: Bool) -> Bool {
        takesPlanes && !(loss == .optional && lossless)
    }
}
