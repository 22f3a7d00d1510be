import ImageModel

extension ImgproxyOptions {
    mutating func takeFormat(_ said: OptionArguments) throws(GrammarError) {
        let word = try said.needed(Optional(try said.only()))
        format = try Self.format(word, said)
    }

    /// `FORMAT:QUALITY:…`
    mutating func takeQualities(_ said: OptionArguments) throws(GrammarError) {
        guard said.values.count % 2 == 0 else {
            throw .malformed(said.option, "a quality is missing behind the last format")
        }
        for place in stride(from: 0, to: said.values.count, by: 2) {
            let format = try Self.format(said.values[place], said)
            let quality = try said.needed(said.whole(place + 1, in: 0...100))
            qualities[format] = quality > 0 ? quality : nil
        }
    }

    /// `FORMAT:FORMAT:…`
    mutating func takeSkipped(_ said: OptionArguments) throws(GrammarError) {
        skippedFormats = []
        for word in said.values {
            guard let format = ImageFormat(name: word) else {
                throw .malformed(
                    said.option, "\(said.shown(word)) is not a format: use jpg, png, gif, …")
            }
            guard OutputOptions.passable.contains(format) else {
                throw .notOffered(
                    said.option,
                    "\(format.name) cannot be passed through: use one of "
                        + OutputOptions.passable.map(\.name).joined(separator: ", "))
            }
            skippedFormats.append(format)
        }
    }

    private static func format(
        _ word: String, _ said: OptionArguments
    ) throws(GrammarError) -> ImageFormat {
        guard let format = ImageFormat(name: word) else {
            throw word == "best"
                ? .notOffered(said.option, "leave the format out: the best one is negotiated")
                : .malformed(said.option, "\(said.shown(word)) is no format: use jpg, png, webp, …")
        }
        guard format.isEncodable else {
            throw .notOffered(
                said.option,
                "\(format.name) is not written here: use one of "
                    + ImageFormat.encodable.map(\.name).joined(separator: ", "))
        }
        return format
    }

    /// A moment that is over ends it at once, as with imgproxy; 0 says nothing.
    mutating func takeExpiry(_ said: OptionArguments) throws(GrammarError) {
        try said.atMost(1)
        let moment = try said.needed(said.whole(0, in: 0...Int.max))
        guard moment == 0 || moment >= now else {
            throw GrammarError(
                .expired, "the time of this URL is over: ask for a new one", option: said.option)
        }
        expires = moment == 0 ? nil : moment
    }

    /// `NAME:ENCODED`, where the name is percent-encoded, or Base64.
    mutating func takeFileName(_ said: OptionArguments) throws(GrammarError) {
        try said.atMost(2)
        guard let text = said[0] else {
            fileName = nil
            return
        }
        var name = try PercentText.text(text, of: said.option)
        if try said.flag(1) ?? false {
            guard let bytes = Base64URL.decode(text.utf8) else {
                throw .malformed(said.option, "the name is no Base64: encode it so, or say 0")
            }
            name = try PercentText.text(
                PercentCoding.encode(bytes, keeping: { $0 != UInt8(ascii: "%") && $0 < 0x80 }),
                of: said.option)
        }
        guard name.utf8.count <= GrammarLimits.textBytesMax, !name.contains(where: Self.isOfPaths)
        else {
            throw .malformed(
                said.option,
                "a name has no slashes, and at most \(GrammarLimits.textBytesMax) bytes")
        }
        fileName = name
    }

    private static func isOfPaths(_ character: Character) -> Bool {
        character == "/" || character == "\\"
    }

    // MARK: - What comes of it

    /// How the image is written.
    func output() -> OutputOptions {
        var output = OutputOptions(format: format)
        output.quality = quality > 0 ? quality : format.flatMap { qualities[$0] }
        output.maxBytes = maxBytes > 0 ? maxBytes : nil
        output.metadata = metadata
        switch stripsProfile {
        case nil: break
        case true?: _ = output.take(settings: ["icc": "srgb"])
        case false?: output.keepsProfile = true
        }
        output.keepsHDR = keepsHDR
        return output
    }

    /// `nil` where nothing is said of it.
    private var metadata: MetadataChoice? {
        switch (stripsMetadata, keepsCopyright) {
        case (false?, _): .all
        case (_, true?): .copyright
        case (true?, _), (_, false?): .nothing
        case (nil, nil): nil
        }
    }
}
