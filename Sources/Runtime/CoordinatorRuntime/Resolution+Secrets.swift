import ImageModel

extension Resolution {
    /// Whether values of secret files are in it, or in what is laid over its image: it may become
    /// another one without a reload.
    var hasSecrets: Bool {
        hasOwnSecrets || terms.overlays.contains(where: \.hasOwnSecrets)
    }

    private var hasOwnSecrets: Bool {
        !secretHeaders.isEmpty || !terms.transfer.secrets.isEmpty
    }
}

extension LoadTerms {
    /// Who asks for what is laid over an image: nobody, unless a rule says so.
    mutating func identifyOverlays(by identity: (Resolution) -> String?) {
        for index in overlays.indices {
            overlays[index].terms.identity = identity(overlays[index])
        }
    }
}
