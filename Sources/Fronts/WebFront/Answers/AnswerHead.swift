/// The head of an answer, and which bytes of the image follow it.
package struct AnswerHead: Hashable, Sendable {
    package var status: UInt16
    package var fields: [Field]
    /// Of the image; `nil`: nothing follows.
    package var bytes: Range<Int>?

    /// A name and a value.
    package struct Field: Hashable, Sendable {
        package let name: String
        package let value: String

        package init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
    }

    package init(_ status: UInt16, _ fields: [Field] = [], bytes: Range<Int>? = nil) {
        (self.status, self.fields, self.bytes) = (status, fields, bytes)
    }

    /// Gives a field that is there another value.
    mutating func set(_ name: String, _ value: String) {
        for place in fields.indices where fields[place].name == name {
            fields[place] = Field(name, value)
        }
    }

    /// The value of a field; of several the first.
    package func field(_ name: String) -> String? {
        fields.first { $0.name.lowercased() == name.lowercased() }?.value
    }
}

/// An answer whose bytes are made here: a sentence for people, or a document.
package struct TextAnswer: Hashable, Sendable {
    package var head: AnswerHead
    package var body: [UInt8]
    /// The error that it reports; `nil`: none that has a name.
    package var failure: Failure?

    /// An error of a request.
    package struct Failure: Hashable, Sendable {
        /// As in `X-Imagebus-Error`.
        package let name: String
        /// A sentence for people.
        package let message: String
    }

    package init(_ head: AnswerHead, _ body: [UInt8]) { (self.head, self.body) = (head, body) }
}
