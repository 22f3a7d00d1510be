import Model
import YAML

/// One item of a preset while it is parsed: at most one step, and output settings.
private struct PresetItem {
    var thumbnail: PixelSize?
    var steps: [TransformStep] = []
    var box: PixelSize?
    var mode: ResizeMode?
    var enlarges: Bool?
    var output = OutputOptions()
}

extension KeyTable where Target == PresetItem {
    fileprivate static let presetItem = KeyTable(
        [
            Row("resize", .box, \.box), Row("mode", .resizeMode, \.mode),
            Row("enlarge", .bool) { item, enlarges in item.enlarges = enlarges },
        ]
            + TransformStep.syntaxes.map(step)
            + [
                Row("thumbnail", .size, \.thumbnail),
                Row("format", .format, \.output.format),
                Row("quality", .number(in: 0...100), \.output.quality),
                Row("lossless", .bool, \.output.lossless),
                Row(
                    "compression", .number(in: OutputOptions.compressionRange),
                    \.output.compression),
            ] + OutputSetting.allCases.map(setting))

    private static func setting(_ setting: OutputSetting) -> Row {
        guard setting.placeholder != nil else {
            return Row(setting.optionName, .bool) { item, isThere in
                item.output[setting] = isThere ? 1 : nil
            }.formerly(setting.formerNames)
        }
        let value = ValueReader<Int>.setting(setting)
        return Row(setting.optionName, value) { item, value in item.output[setting] = value }
            .formerly(setting.formerNames)
    }

    /// The key of a step; a step without a value is a boolean.
    private static func step(_ syntax: StepSyntax) -> Row {
        guard syntax.value == nil else {
            return Row(syntax.name, .scalar(syntax.expected, syntax.parse)) { item, step in
                item.steps.append(step)
            }
        }
        return Row(syntax.name, .bool) { item, isThere in
            guard isThere, let step = syntax.parse("") else { return }
            item.steps.append(step)
        }
    }
}

extension ValueReader where Value == Preset {
    /// One map, or a list of maps with at most one step each.
    static let preset = ValueReader { node, name, reading in
        var preset = Preset()
        let items = if case .list(let items) = node.content { items } else { [node] }
        for node in items {
            var item = PresetItem()
            KeyTable.presetItem.read(node, name, into: &item, &reading)
            add(item, at: node, name, to: &preset, &reading)
        }
        if preset.steps.count > RequestLimits.stepsMax {
            reading.report(
                node.line, "\(name): at most \(RequestLimits.stepsMax) steps are accepted")
        }
        do throws(ImageError) {
            try preset.output.check()
        } catch {
            reading.report(node.line, "\(name): \(error.message)")
        }
        return preset
    }

    private static func add(
        _ item: PresetItem, at node: YAMLNode, _ name: String, to preset: inout Preset,
        _ reading: inout Reading
    ) {
        var steps = item.steps
        if let box = item.box {
            let mode = item.mode ?? .fit
            steps.append(.resize(box, mode, enlarges: item.enlarges ?? mode.enlarges))
        } else if item.mode != nil || item.enlarges != nil {
            let key = item.mode != nil ? "mode" : "enlarge"
            reading.report(node.line, "\(name): \(key) requires resize")
        }
        if steps.count > 1 {
            reading.report(
                node.line, "\(name): write multiple steps as a list to define their order")
        }
        preset.steps += steps
        if let box = item.thumbnail { preset.thumbnail = Thumbnail(box: box) }
        preset.output.format = item.output.format ?? preset.output.format
        preset.output.quality = item.output.quality ?? preset.output.quality
        preset.output.compression = item.output.compression ?? preset.output.compression
        preset.output.lossless = item.output.lossless || preset.output.lossless
        preset.output.apply(settingsOf: item.output)
    }
}

extension ValueReader where Value == PixelSize {
    /// A bounding box, of which one side may be omitted.
    static let box = scalar("WIDTHxHEIGHT in pixels, such as 512x418, 512x or x418") {
        PixelSize(box: $0)
    }

    static let size = scalar("WIDTHxHEIGHT in pixels, such as 512x418") { PixelSize($0) }
}

extension ValueReader where Value == ResizeMode {
    static let resizeMode = word(ResizeMode.allCases.map { ($0.name, $0) })
}

extension ValueReader where Value == Int {
    /// An integer, called `noun` in errors.
    static func number(in range: ClosedRange<Int>, _ noun: String = "a number") -> ValueReader {
        scalar("\(noun) from \(range.lowerBound) to \(range.upperBound)") { text in
            PlainNumber.integer(text).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    /// Parses the value of an encoder setting; multiple words may be a list.
    fileprivate static func setting(_ setting: OutputSetting) -> ValueReader {
        let text = scalar(setting.expected, near: setting.words) { text in
            setting.value(ofWritten: text).flatMap { setting.permits($0) ? $0 : nil }
        }
        guard case .formats = setting.row.values else { return text }
        return ValueReader { node, name, reading in
            guard case .list(let items) = node.content else {
                return text.read(node, name, &reading)
            }
            let words = items.map { item in
                if case .scalar(let word) = item.content { word } else { "" }
            }
            let joined = YAMLNode(
                .scalar(words.joined(separator: ",")), line: node.line, column: node.column)
            return text.read(joined, name, &reading)
        }
    }
}

extension ValueReader where Value == ImageFormat {
    static let format = scalar(
        "one of " + ImageFormat.encodable.map(\.name).joined(separator: ", ")
    ) { text in
        ImageFormat(name: text).flatMap { $0.isEncodable ? $0 : nil }
    }
}

/// The contents of a serializer.
private struct SerializerItem {
    var format: ImageFormat?
    var quality: Int?
}

extension KeyTable where Target == SerializerItem {
    fileprivate static let serializer = KeyTable([
        Row("transcode", .format, \.format),
        Row("quality", .number(in: 0...100), \.quality),
    ])
}

extension ValueReader where Value == Serializer {
    /// The output of a serializer: currently only another format.
    static let serializer = ValueReader { node, name, reading in
        var item = SerializerItem()
        KeyTable.serializer.read(node, name, into: &item, &reading)
        guard let format = item.format else {
            return reading.refuse(
                node.line, "\(name): 'transcode' is missing: specify the target format")
        }
        return .transcode(format, quality: item.quality)
    }
}
