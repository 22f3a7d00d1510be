/// Another image laid over this one.
package struct OverlayStep: StepForm {
    package let overlay: Overlay

    package var name: String { "overlay" }

    package var key: String { overlay.key(named: overlay.url) }

    package var demand: StepDemand { .everything }

    package func scaled(by ratio: Double) -> TransformStep? {
        .overlay(
            Overlay(
                url: overlay.url, x: ImageModel.scaled(overlay.x, by: ratio),
                y: ImageModel.scaled(overlay.y, by: ratio), opacity: overlay.opacity,
                gravity: overlay.gravity?.scaled(by: ratio), size: overlay.size?.scaled(by: ratio),
                repeats: overlay.repeats, mode: overlay.mode))
    }

    package func check(pixelsMax: Int) throws(ImageError) {
        let places = -RequestLimits.sideMax...RequestLimits.sideMax
        guard places.contains(overlay.x), places.contains(overlay.y) else {
            throw ImageError(
                .invalidRequest,
                "overlay: at most \(RequestLimits.sideMax) pixels from an edge")
        }
        guard (0...1).contains(overlay.opacity) else {
            throw ImageError(.invalidRequest, "overlay: the opacity is a number from 0 to 1")
        }
        guard overlay.hasPlace else {
            throw ImageError(
                .invalidRequest,
                "overlay: the gravity is a place of the image, such as southeast or fp:0.3:0.7")
        }
        guard overlay.size?.isPermitted ?? true else {
            throw ImageError(
                .invalidRequest,
                "overlay: the size is WIDTHxHEIGHT, each from 1 to \(RequestLimits.sideMax) pixels "
                    + "or above 0 and at most 100%")
        }
        guard let url = try? SourceURL(overlay.url), url.hasAuthority, url.userInfo == nil else {
            throw ImageError(
                .invalidRequest,
                "overlay: a URL without user info is expected, such as https://host/mark.png")
        }
    }

    static let syntax: StepSyntax = {
        var syntax = written
        syntax.fault = Overlay.fault
        return syntax
    }()

    private static let written = StepSyntax(
        "overlay", value: "[WORDS,]URL[,X,Y[,OPACITY]]",
        "lay another image over it, at X, Y from the left and top edge,\n"
            + "negative: from the right and bottom one (repeatable, 4);\n"
            + "WORDS: a place (GRAVITY as of pad; X, Y move it inwards), a size\n"
            + "(WxH, 20%x20% of the image), repeat, a MODE (as of tint), an opacity;\n"
            + "a URL that ends in a comma and a number needs X, Y and OPACITY",
        expected: "[WORDS,]URL[,X,Y[,OPACITY]] with an http or https URL and an opacity from 0 to "
            + "1, such as http://host/mark.png,-10,-10,0.5 or "
            + "southeast,20%x20%,multiply,0.5,http://host/mark.png; WORDS are a place, a size, "
            + "repeat, a mode and an opacity, each once; a URL that ends in a comma and a number "
            + "needs X, Y and OPACITY"
    ) { Overlay($0).map { .overlay($0) } }
}

extension Overlay {
    /// Whether its gravity, if it has one, is a place: nobody looks at the pixels for it.
    var hasPlace: Bool {
        guard let gravity else { return true }
        return gravity.isPlace && gravity.isPermitted
    }
}
