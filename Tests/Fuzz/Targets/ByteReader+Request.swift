import Model

extension ByteReader {
    /// Well-known URLs, URLs that an attacker would try, or text from the input.
    mutating func url() -> String {
        switch choice(8) {
        case 0: text()
        case 1: "http://user:word@example.org/" + text()
        case 2: "https://example.org/a.jpg?" + text()
        case 3: "http://" + text() + "/a.b/c.png"
        case 4: text() + "://example.org/a"
        case 5: "http://example.org/" + String(repeating: text(), count: 1 + Int(byte()))
        default: "http://example.org/\(choice(3)).jpg"
        }
    }

    mutating func header() -> HTTPHeader {
        let names = ["Accept", "accept", "Authorization", "Cookie", "X-A", "X-a"]
        return HTTPHeader(name: bool() ? text() : pick(names) ?? "", value: text())
    }

    mutating func size() -> PixelSize {
        PixelSize(width: number(), height: number())
    }

    mutating func mode() -> ResizeMode { pick(ResizeMode.allCases) ?? .fit }

    mutating func step() -> TransformStep {
        switch choice(8) {
        case 0: .resize(size(), mode(), enlarges: bool())
        case 1: .crop(PixelRect(x: number(), y: number(), size: size()))
        case 2: .rotate(Rotation(radians: double(), fitsSize: bool()))
        case 3: .rotate(Rotation(degreesClockwise: Double(choice(9)) * 90 - 360))
        case 4:
            .overlay(
                Overlay(
                    url: url(), x: number(), y: number(),
                    opacity: bool() ? double() : Double(choice(3)) / 2,
                    gravity: bool() ? nil : .point(x: double(), y: double()),
                    size: bool()
                        ? nil : .init(width: .percent(double()), height: .pixels(number())),
                    repeats: bool(), mode: pick(BlendMode.allCases) ?? .normal))
        case 5: .custom(CustomStep(url(), parameters: bool() ? [url(): url()] : [:]))
        case 6: valuedStep()
        default: .flip(horizontal: bool(), vertical: bool())
        }
    }

    /// A step that is identified by its name on the wire.
    private mutating func valuedStep() -> TransformStep {
        switch choice(18) {
        case 14: .colorMatrix(ColorMatrix(red: row(), green: row(), blue: row()))
        case 15: .modulate(lightness: double(), saturation: double(), hue: double())
        case 16: .monochrome(Color(argb: number()), intensity: double())
        case 17: .sharpen(radius: double(), amount: double())
        case 9: .scaleDown(bytes: number())
        case 7: .round(radius: double(), Corners(rawValue: byte()), border: double(), .white)
        case 8: .tint(Color(argb: number()), pick(BlendMode.allCases) ?? .normal)
        case 0: .blur(radius: double())
        case 1: .pixelate(number())
        case 2:
            .trim(
                tolerance: double(), bool() ? nil : Color(argb: number()),
                equal: bool() ? nil : pick(EqualMargins.allCases))
        case 10:
            .extend(
                Margins(left: number(), top: number(), right: number(), bottom: number()),
                bool() ? .mirror : .color(Color(argb: number())))
        case 3: .pad(size(), gravity(), Color(argb: number()))
        case 11:
            .resizeTo(
                RelativeSize(width: .percent(double()), height: .pixels(number())), mode(),
                enlarges: bool() ? nil : bool(), least: size(), gravity())
        case 12: .cropRatio(ratio(), gravity())
        case 13: .padRatio(ratio(), gravity(), Color(argb: number()))
        case 4:
            .cropTo(
                RelativeSize(width: .pixels(number()), height: .percent(double())), gravity())
        case 5: .flatten(Color(argb: number()))
        default: .grayscale
        }
    }

    private mutating func row() -> ColorMatrix.Row {
        .init(double(), double(), double(), offset: double())
    }

    private mutating func ratio() -> AspectRatio {
        AspectRatio(width: number(), height: number())
    }

    private mutating func gravity() -> Gravity {
        switch choice(5) {
        case 0: .attention
        case 3: .pixel(x: double(), y: double())
        case 4:
            .moved(
                x: Double(choice(3)) / 2, y: Double(choice(3)) / 2,
                by: GravityOffset(x: .pixels(number()), y: .percent(double())))
        case 1: .point(x: double(), y: double())
        default: .center
        }
    }

    mutating func tiers() -> CacheTypes { CacheTypes(rawValue: byte()) }

    mutating func request() -> ImageRequest {
        var request = ImageRequest(url: url())
        let what = byte()
        if what & 1 != 0 { request.headers = (0..<choice(70)).map { _ in header() } }
        if what & 2 != 0 {
            request.thumbnail = Thumbnail(box: size(), preservesAspectRatio: bool())
        }
        if what & 4 != 0 { request.steps = (0..<choice(40)).map { _ in step() } }
        if what & 8 != 0 {
            request.output = OutputOptions(
                format: bool() ? pick(ImageFormat.allCases) : nil,
                quality: bool() ? number() : nil, lossless: bool())
            for setting in OutputSetting.allCases where choice(4) == 0 {
                let value = bool() ? number() : choice(128)
                if setting.permits(value) { request.output[setting] = value }
            }
        }
        if what & 16 != 0 { request.infoOnly = true }
        if what & 48 == 32 { request.pixelRatio = double() }
        if what & 32 != 0 { request.options = RequestOptions(rawValue: number()) }
        if what & 64 != 0 { request.timeoutMilliseconds = number() }
        if what & 128 != 0 {
            request.queryCacheTypes = tiers()
            request.storeCacheTypes = tiers()
            request.originalQueryCacheTypes = tiers()
            request.originalStoreCacheTypes = tiers()
        }
        request.context.fallback = fallback()
        if choice(8) == 1 { request.context.scaleDownLimit = number() }
        if choice(8) == 1 { request.context.encodeOptions = encodeOptions() }
        request.wantsExplanation = choice(8) == 1
        if choice(8) == 1 { request.earlierFailureMilliseconds = Int(number() as UInt32) }
        if choice(8) == 1 {
            request.assumedLifetime = AssumedLifetime(
                fresh: Int64(number() as UInt32), whileRevalidate: Int64(number() as UInt32),
                ifError: Int64(number() as UInt32))
        }
        return request
    }

    private mutating func encodeOptions() -> EncodeOptions {
        var options = EncodeOptions()
        options.quality = bool() ? number() : nil
        options.background = bool() ? Color(argb: number()) : nil
        options.maxPixelSize = bool() ? size() : nil
        options.maxBytes = bool() ? number() : nil
        options.embedsThumbnail = bool()
        return options
    }

    /// Usually nil, and always at the end of the input.
    private mutating func fallback() -> Fallback? {
        switch choice(9) {
        case 1: .url(url())
        case 2: .color(Color(argb: number()))
        case 3: Fallback.none
        default: nil
        }
    }
}
